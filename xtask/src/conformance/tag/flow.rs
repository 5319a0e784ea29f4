//! Cases of kind flow: sessions with their folders, files and each other.
//!
//! The cases are statements rather than transcripts, so each kind has a function of its own that reproduces the statement
//! in a real folder. The initial state and the expectation are the case's.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use local_workspace::LocalWorkspace;
use regex::Regex;
use serde_json::{Value, json};
use tag_session::{InboxEvent, InboxFile, Sessions, Unusable, Waited};
use tagproto::{Dialect, Session, read_outbox};
use wap_core::CancelFlag;

use crate::conformance::Outcome;
use crate::conformance::crash::runs_of_a_reply_after_a_crash;
use crate::conformance::expected::{equal, expectations, list, members, text};
use crate::conformance::fixture::Fixture;
use crate::conformance::problem::{Problem, ensure};
use crate::conformance::tag::exec::{apply, in_order};

/// Checks one key of what a case expects.
type Flow = fn(&Fixture, &Value, &Value) -> Result<(), Problem>;

/// By what a case expects: the keys, and what is done to check them.
const FLOWS: [(&[&str], Flow); 10] = [
    (&["re_executed"], crash_before_save),
    (&["isComplete", "next_outbox_written"], done_stops),
    (&["processed"], only_txt),
    (&["absent"], no_results_section),
    (&["line_equal_marker_count"], no_forged_section),
    (&["both_kept"], name_collision),
    (&["after_resume_seq"], resume_pending),
    (&["order"], outbox_order),
    (&["regex"], session_id),
    (&["header_task_single_line", "sections_count"], task_folded),
];

/// The keys with remarks for the reader of a case.
const REMARKS: [&str; 2] = ["original", "note"];

/// Reproduces the statement of a case in a real folder, and compares every key of the expectation.
pub(crate) fn run(case: &Value) -> Outcome {
    check(case).into()
}

fn check(case: &Value) -> Result<(), Problem> {
    let (input, expect) = (&case["input"], &case["expect"]);
    let keys_of_case: Vec<&str> =
        expectations(expect)?.map(|(key, _)| key).filter(|key| !REMARKS.contains(key)).collect();
    let row = FLOWS.iter().find(|(keys, _)| keys_of_case.iter().any(|key| keys.contains(key)));
    let (keys, flow) = row.ok_or_else(|| Problem::new(format!("there is no runner for {keys_of_case:?}")))?;
    if let Some(key) = keys_of_case.iter().find(|key| !keys.contains(key)) {
        return Err(Problem::unknown_key(key));
    }
    for key in *keys {
        ensure(!expect[*key].is_null(), || format!("the case does not say {key}"))?;
    }
    flow(&Fixture::new()?, input, expect)
}

fn crash_before_save(fixture: &Fixture, _: &Value, expect: &Value) -> Result<(), Problem> {
    let runs = runs_of_a_reply_after_a_crash(fixture)?;
    ensure(runs > 0, || "the command never ran".to_owned())?;
    equal("re_executed", &expect["re_executed"], &(runs > 1).into())
}

fn done_stops(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    let sessions = fixture.sessions()?;
    let session = answered(&sessions, &begin(&sessions, "T")?, text(&input["inbox"]))?;
    equal("isComplete", &expect["isComplete"], &session.is_complete.into())?;
    let outboxes = names(&fixture.state().join("outbox"))?.len();
    equal("next_outbox_written", &expect["next_outbox_written"], &(outboxes > 1).into())
}

/// The other files are older, so that each would come before the sentinel if it counted as a reply.
fn only_txt(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    const SENTINEL: &str = "sentinel.txt";
    let sessions = fixture.sessions()?;
    let mut processed: Vec<Value> = Vec::new();
    let names = list(&input["files"]).iter().map(text).chain([SENTINEL]);
    for (age, name) in (0..).zip(names.rev()) {
        put_reply(fixture, name, "[MESSAGE]\nx\n[/MESSAGE]", Duration::from_secs(60 * age))?;
    }
    loop {
        let reply = next_reply(&sessions)?;
        sessions.move_to_processed(&reply)?;
        if reply.name.to_string() == SENTINEL {
            break;
        }
        processed.push(reply.name.to_string().into());
    }
    equal("processed", &expect["processed"], &processed.into())
}

fn no_results_section(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    let outbox = outbox_at(fixture, input)?;
    for absent in list(&expect["absent"]).iter().map(text) {
        ensure(outbox.lines().all(|line| line != absent), || format!("the outbox has a line {absent}"))?;
    }
    Ok(())
}

/// The outbox with the sequence of a case, after a reply with so many results, of which so many read a file.
fn outbox_at(fixture: &Fixture, input: &Value) -> Result<String, Problem> {
    let number = |key: &str| input[key].as_u64().unwrap_or(0);
    let (sequence, results, reads) = (number("seq"), number("results"), number("reads"));
    ensure(sequence >= 1 && results >= reads && (sequence > 1 || results == 0), || {
        format!("no outbox is like {input}")
    })?;
    let mut reply = "Only prose.\n".to_owned();
    for read in 0..reads {
        fixture.put(&format!("a{read}"), "A\n")?;
        reply.push_str(&format!("[READ_FILE path=\"a{read}\"]\n"));
    }
    reply.push_str(&"[MESSAGE]\nm\n[/MESSAGE]\n".repeat(usize::try_from(results - reads)?));
    let sessions = fixture.sessions()?;
    let mut session = begin(&sessions, "T")?;
    for before in 1..sequence {
        let is_last = before + 1 == sequence;
        let prose = format!("Only prose, {before}.");
        session = answered(&sessions, &session, if is_last { &reply } else { &prose })?;
    }
    equal("the sequence", &sequence.into(), &session.sequence_number.into())?;
    equal("the number of results", &results.into(), &session.last_results.len().into())?;
    equal("the number of files", &reads.into(), &session.read_file_requests.len().into())?;
    outbox(&sessions, &session)
}

fn no_forged_section(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    fixture.put("printed", text(&input["run_output"]))?;
    let sessions = fixture.sessions()?;
    let session = answered(&sessions, &begin(&sessions, "T")?, "[RUN_COMMAND]\ncat printed\n[/RUN_COMMAND]")?;
    equal("the output", &input["run_output"], &session.last_results[0].output.as_str().into())?;
    let outbox = outbox(&sessions, &session)?;
    for (marker, count) in members(&expect["line_equal_marker_count"]) {
        let count_in_outbox = outbox.lines().filter(|line| *line == marker).count();
        equal(&format!("the number of lines {marker}"), count, &count_in_outbox.into())?;
    }
    Ok(())
}

fn name_collision(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    let (earlier, later) = (text(&input["processed_has"]), text(&input["inbox"]));
    let sessions = fixture.sessions()?;
    let session = begin(&sessions, "T")?;
    let processed = fixture.state().join("inbox/processed");
    fs::write(processed.join(earlier), "earlier")?;
    put_reply(fixture, later, "[MESSAGE]\nlater\n[/MESSAGE]", Duration::ZERO)?;
    let reply = next_reply(&sessions)?;
    answered(&sessions, &session, &reply.text)?;
    sessions.move_to_processed(&reply)?;

    let mut texts = Vec::new();
    for name in names(&processed)? {
        texts.push(fs::read_to_string(processed.join(name))?);
    }
    texts.sort();
    let is_kept = fs::read_to_string(processed.join(earlier))? == "earlier"
        && texts == ["[MESSAGE]\nlater\n[/MESSAGE]", "earlier"];
    equal("both_kept", &expect["both_kept"], &is_kept.into())
}

fn resume_pending(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    fixture.put("asked.txt", "what was asked for\n")?;
    let wanted = input["session_seq"].as_u64().ok_or_else(|| Problem::new("the case has no session_seq"))?;
    let (session, before) = {
        let sessions = fixture.sessions()?;
        let mut session = begin(&sessions, "T")?;
        while u64::from(session.sequence_number) < wanted {
            let reply = format!("Reply {}.\n[READ_FILE path=\"asked.txt\"]", session.sequence_number);
            session = answered(&sessions, &session, &reply)?;
        }
        let pending = outbox(&sessions, &session)?;
        (session, pending)
    };
    equal("the pending outbox", &input["outbox_exists"], &session.sequence_number.into())?;
    ensure(before.contains("what was asked for"), || format!("the file is not shown:\n{before}"))?;
    let files = || names(&fixture.state().join("outbox"));
    let outboxes = files()?;

    let sessions = fixture.sessions()?;
    let resumed = sessions.newest_unfinished()?.ok_or_else(|| Problem::new("no session is unfinished"))?;
    equal("after_resume_seq", &expect["after_resume_seq"], &resumed.sequence_number.into())?;
    ensure(resumed == session, || "the session is not what it was".to_owned())?;
    ensure(outbox(&sessions, &resumed)? == before, || "the outbox is not what it was".to_owned())?;
    equal("the outboxes", &json!(outboxes), &json!(files()?))
}

fn outbox_order(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    only_in_order(&outbox_at(fixture, input)?, &expect["order"])
}

fn session_id(fixture: &Fixture, _: &Value, expect: &Value) -> Result<(), Problem> {
    let id = begin(&fixture.sessions()?, "T")?.session_id.to_string();
    let pattern = text(&expect["regex"]);
    ensure(Regex::new(pattern)?.is_match(&id), || format!("{id} does not match {pattern}"))
}

fn task_folded(fixture: &Fixture, input: &Value, expect: &Value) -> Result<(), Problem> {
    let task = text(&input["task"]);
    let sessions = fixture.sessions()?;
    let session = begin(&sessions, task)?;
    let outbox = outbox(&sessions, &session)?;
    let folded = format!("Task: {}", task.split_whitespace().collect::<Vec<_>>().join(" "));
    let is_folded = outbox.lines().filter(|line| *line == folded).count() == 1;
    equal("header_task_single_line", &expect["header_task_single_line"], &is_folded.into())?;
    let sections = outbox.lines().filter(|line| line.starts_with("=== ")).count();
    equal("sections_count", &expect["sections_count"], &sections.into())?;
    equal("the prompt", &task.into(), &read_outbox(&outbox)?.prompt.into())
}

fn begin(sessions: &Sessions<LocalWorkspace>, task: &str) -> Result<Session, Problem> {
    Ok(sessions.create(task, Dialect::default(), None, &CancelFlag::new())?)
}

/// The session after a reply.
fn answered(sessions: &Sessions<LocalWorkspace>, session: &Session, reply: &str) -> Result<Session, Problem> {
    Ok(apply(sessions, session, reply, Duration::from_secs(30))?.session)
}

/// The pending outbox: what the journal holds and what its file holds must be the same.
fn outbox(sessions: &Sessions<LocalWorkspace>, session: &Session) -> Result<String, Problem> {
    let outbox = sessions.outbox(session)?.ok_or_else(|| Problem::new("there is no outbox"))?;
    let file = fs::read_to_string(sessions.folders().outbox_path(&session.outbox_file_name()))?;
    ensure(file == outbox, || "the file of the outbox is not what the journal holds".to_owned())?;
    Ok(outbox)
}

/// Saves a reply with a modification time in the past.
fn put_reply(fixture: &Fixture, name: &str, reply: &str, age: Duration) -> Result<(), Problem> {
    let path = fixture.state().join("inbox").join(name);
    fs::write(&path, reply)?;
    Ok(fs::File::options().write(true).open(&path)?.set_modified(SystemTime::now() - age)?)
}

fn next_reply(sessions: &Sessions<LocalWorkspace>) -> Result<InboxFile, Problem> {
    loop {
        match sessions.wait(&CancelFlag::new())? {
            Waited::Event(InboxEvent::Reply(reply)) => return Ok(reply),
            // The user hears of such a file, and it stays where it is.
            Waited::Event(InboxEvent::Unusable { why: Unusable::Misnamed, set_aside: None, .. }) => {}
            other => return Err(Problem::new(format!("instead of a reply came {other:?}"))),
        }
    }
}

fn names(folder: &Path) -> Result<Vec<String>, Problem> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Checks that the sections and headings of an outbox are these, in this order, and no others.
fn only_in_order(outbox: &str, order: &Value) -> Result<(), Problem> {
    in_order(outbox, order, |line, marker| line == marker)?;
    let count_in_outbox =
        outbox.lines().filter(|line| line.starts_with("=== ") || line.starts_with("## ")).count();
    equal("the number of sections and headings", &list(order).len().into(), &count_in_outbox.into())
}
