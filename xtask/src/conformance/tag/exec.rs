//! Cases of kind exec: a reply is carried out in a real folder, by a session as a person would have one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tag_session::{Applied, ApplyOptions, Executed, Sessions};
use tagproto::{Dialect, Session, UnobservedExecution};
use wap_core::{CancelFlag, Workspace};

use crate::conformance::Outcome;
use crate::conformance::expected::{derived, equal, expectations, list, members, text};
use crate::conformance::fixture::Fixture;
use crate::conformance::problem::{Problem, ensure};
use crate::conformance::survivors::survivors;

/// Begins a session with the task `T`, carries the reply out and compares every key of what is expected. The summary of
/// a failed block is compared as a prefix. An unknown key fails the case.
pub(crate) fn run(case: &Value) -> Outcome {
    check(case).into()
}

fn check(case: &Value) -> Result<(), Problem> {
    let fixture = Fixture::new()?;
    let case = fixture.fill_in(case);
    let (input, expect) = (&case["input"], &case["expect"]);
    for (path, text) in members(&input["files"]) {
        fixture.put(path, bytes(input, text)?)?;
    }
    for (link, target) in members(&input["symlinks"]) {
        fixture.link(link, target.as_str().unwrap_or_default())?;
    }
    let inbox = input["inbox"].as_str().ok_or_else(|| Problem::new("the case has no inbox"))?;
    let timeout = Duration::from_secs(input["timeout_s"].as_u64().unwrap_or(30));
    let dialect: Dialect = case["dialect"].as_str().unwrap_or_default().parse()?;

    let sessions = fixture.sessions()?;
    let session = sessions.create("T", dialect, None, &CancelFlag::new())?;
    let start = Instant::now();
    let executed = apply(&sessions, &session, inbox, timeout)?;
    let effects = Effects {
        wall: start.elapsed(),
        results: serde_json::to_value(&executed.results)?,
        outbox: if executed.session.is_complete { None } else { sessions.outbox(&executed.session)? },
        session: executed.session,
        files: fixture.files()?,
        fixture: &fixture,
    };
    expectations(expect)?.try_for_each(|(key, value)| effects.compare(key, value, input))
}

/// Carries out a reply to the pending outbox of a session.
pub(crate) fn apply<W: Workspace>(
    sessions: &Sessions<W>,
    session: &Session,
    reply: &str,
    timeout: Duration,
) -> Result<Executed, Problem> {
    let options = ApplyOptions::default();
    let observer = &mut UnobservedExecution;
    let cancel = CancelFlag::new();
    match sessions.apply(session.session_id, reply, timeout, options, &cancel, observer)? {
        Applied::Executed(executed) => Ok(*executed),
        Applied::AlreadyDone { sequence, .. } => {
            Err(Problem::new(format!("the reply was taken for the one to message {sequence}")))
        }
    }
}

/// The effects of a reply.
struct Effects<'a> {
    fixture: &'a Fixture,
    session: Session,
    results: Value,
    /// The next outbox; `None` if the session is complete.
    outbox: Option<String>,
    files: BTreeMap<String, Vec<u8>>,
    wall: Duration,
}

impl Effects<'_> {
    fn compare(&self, key: &str, expected: &Value, input: &Value) -> Result<(), Problem> {
        match key {
            "results" => self.compare_results(expected),
            "results_types_ok" => {
                let results = self.results.as_array().into_iter().flatten();
                let types = results.map(|result| json!([result["commandType"], result["success"]])).collect();
                equal(key, expected, &types)
            }
            "complete" => equal(key, expected, &self.session.is_complete.into()),
            "done" => equal(key, expected, &json!(self.session.done)),
            "after" => {
                let expected: BTreeMap<String, Vec<u8>> = members(expected)
                    .map(|(path, text)| Ok((path.to_owned(), bytes(input, text)?)))
                    .collect::<Result<_, Problem>>()?;
                ensure(self.files == expected, || {
                    format!(
                        "the files are {}, but should be {}",
                        render_files(&self.files),
                        render_files(&expected)
                    )
                })
            }
            "summary_starts" => {
                let summary = text(&self.results[0]["summary"]);
                ensure(summary.starts_with(text(expected)), || format!("the summary is {summary}"))
            }
            "second_summary_contains" => {
                let summary = text(&self.results[1]["summary"]);
                ensure(summary.contains(text(expected)), || format!("the second summary is {summary}"))
            }
            "summary_must_not_contain" => {
                let all = self.results.to_string();
                ensure(!all.contains(text(expected)), || format!("a result has {expected} in it: {all}"))
            }
            "requested_section_count" => {
                let outbox = self.outbox.as_deref().unwrap_or_default();
                let count = outbox.lines().filter(|line| line.starts_with("--- end ")).count();
                equal("the number of files shown", expected, &count.into())
            }
            "next_outbox_line_starts_in_order" => {
                in_order(self.outbox.as_deref().unwrap_or_default(), expected, |line, start| {
                    line.starts_with(start)
                })
            }
            "outside_untouched" => equal(key, expected, &self.fixture.is_outside_untouched()?.into()),
            "background_process_killed" => {
                equal(key, expected, &(survivors(self.fixture.path()) == 0).into())
            }
            "wall_s_max" => {
                let most = Duration::from_secs(expected.as_u64().unwrap_or(0));
                ensure(self.wall <= most, || format!("it took {:.1} s", self.wall.as_secs_f64()))
            }
            "absent" | "exists" => {
                let paths = if expected.is_array() { list(expected) } else { std::slice::from_ref(expected) };
                let wrong =
                    paths.iter().find(|path| self.files.contains_key(text(path)) != (key == "exists"));
                ensure(wrong.is_none(), || format!("{wrong:?} is not {key}: {}", render_files(&self.files)))
            }
            // What the case says to its reader.
            "or" | "original" | "note" => Ok(()),
            // The only block, or the first.
            "success" | "commandType" | "summary" | "output" => equal(key, expected, &self.results[0][key]),
            _ => {
                let first = |name: &str| match name {
                    "outbox" | "next_outbox" => self.outbox.clone().map(Value::from),
                    name => self.results.get(0)?.get(name).cloned(),
                };
                let holds = derived(key, expected, first).ok_or_else(|| Problem::unknown_key(key))?;
                ensure(holds, || format!("{key} should be {expected}, and the results are {}", self.results))
            }
        }
    }

    fn compare_results(&self, expected: &Value) -> Result<(), Problem> {
        let (expected, actual) = (list(expected), list(&self.results));
        equal("the number of results", &expected.len().into(), &actual.len().into())?;
        for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
            for (key, expected) in members(expected) {
                let value = &actual[key];
                let may_go_on = key == "summary" && actual["success"] == false;
                if may_go_on && text(value).starts_with(text(expected)) {
                    continue;
                }
                equal(&format!("{key} of result {index}"), expected, value)?;
            }
        }
        Ok(())
    }
}

/// Checks that each text of a list has a line of its own that matches, in this order.
pub(crate) fn in_order(
    outbox: &str,
    expected: &Value,
    matches: impl Fn(&str, &str) -> bool,
) -> Result<(), Problem> {
    let mut lines = outbox.lines();
    for wanted in list(expected).iter().map(text) {
        ensure(lines.any(|line| matches(line, wanted)), || {
            format!("the outbox has no line {wanted:?} where it should be:\n{outbox}")
        })?;
    }
    Ok(())
}

/// Returns the bytes that a case means by a text: in some cases, each character is one byte.
fn bytes(input: &Value, content: &Value) -> Result<Vec<u8>, Problem> {
    let content = text(content);
    if input["files_encoding"].is_null() {
        return Ok(content.as_bytes().to_vec());
    }
    Ok(content.chars().map(u8::try_from).collect::<Result<_, _>>()?)
}

pub(super) fn render_files(files: &BTreeMap<String, Vec<u8>>) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|(path, content)| format!("{path:?}: {:?}", content.escape_ascii().to_string()))
        .collect();
    format!("{{{}}}", files.join(", "))
}
