//! Cases about a crash: a second process of this program works on the fixture of a case and is killed.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use serde_json::{Value, json};

use super::expected::{equal, expectations, text};
use super::fixture::Fixture;
use super::mortal::Mortal;
use super::problem::{Problem, ensure};
use super::tag::exec::apply;
use super::wap::answer;
use crate::TaskError;

/// The task that makes this program a victim; the kind of victim and the folder of the fixture follow.
const TASK: &str = "crash";
/// The victim that rewrites a file until it is killed from outside.
const WRITER: &str = "writer";
/// The victim that kills itself when the blocks of a reply are carried out and the session is not yet saved.
const EXECUTOR: &str = "executor";

/// The file of the fixture, beside the workspace, with the victim's orders.
const ORDER: &str = "order.txt";

/// The number of times that a writer is killed.
const KILLS: u64 = 8;

/// Acts as a victim: works on the fixture of a conformance case until it is killed.
///
/// # Errors
///
/// [`TaskError::NotKilled`] if that did not happen.
pub fn crash(kind: &str, fixture: &Path) -> Result<(), TaskError> {
    let fixture = Fixture::at(fixture);
    let lived = match kind {
        WRITER => write_until_killed(&fixture),
        EXECUTOR => execute_and_die(&fixture),
        other => Err(Problem::new(format!("there is no victim of kind {other}"))),
    };
    let why = lived.map_or_else(|problem| problem.to_string(), |()| "it came to its end".to_owned());
    Err(TaskError::NotKilled { why })
}

/// Checks that a write which is killed in the middle leaves the old content or the new one, and the mode bits.
pub(super) fn write_is_atomic(fixture: &Fixture, request: &Value, expect: &Value) -> Result<(), Problem> {
    const MODE: u32 = 0o640;
    let path = fixture.workspace().join(text(&request["path"]));
    let old = fs::read(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(MODE))?;
    fs::write(fixture.path().join(ORDER), request.to_string())?;
    for kill in 0..KILLS {
        let mut victim = start_victim(WRITER, fixture)?;
        let mut ready = String::new();
        BufReader::new(victim.stdout.take().expect("it is piped")).read_line(&mut ready)?;
        // The moments lie close together and at odd distances, so that they meet different steps of a write.
        std::thread::sleep(Duration::from_micros(kill * kill * 370));
        victim.kill()?;
        victim.wait()?;
        ensure(ready == "ready\n", || "the writer never began".to_owned())?;
        // As the crash left it, and as the next start does.
        for is_reopened in [false, true] {
            if is_reopened {
                drop(fixture.engine(Default::default())?);
                let names: Vec<String> = fixture.files()?.into_keys().collect();
                equal("the files after recovery", &json!([request["path"]]), &json!(names))?;
            }
            let now = fs::read(&path)?;
            let is_whole = now == old || now == text(&request["content"]).as_bytes();
            let has_mode = fs::metadata(&path)?.permissions().mode() & 0o7777 == MODE;
            for (key, expected) in expectations(expect)? {
                match key {
                    "a_is_old_or_new" => equal(key, expected, &is_whole.into())?,
                    "mode_bits_kept" => equal(key, expected, &has_mode.into())?,
                    _ => return Err(Problem::unknown_key(key)),
                }
            }
        }
    }
    Ok(())
}

fn write_until_killed(fixture: &Fixture) -> Result<(), Problem> {
    let new: Value = serde_json::from_str(&fs::read_to_string(fixture.path().join(ORDER))?)?;
    let mut old = new.clone();
    old["content"] = fs::read_to_string(fixture.workspace().join(text(&new["path"])))?.into();
    let (engine, _journal) = fixture.engine(Default::default())?;
    let mut stdout = std::io::stdout();
    stdout.write_all(b"ready\n")?;
    stdout.flush()?;
    loop {
        for request in [&new, &old] {
            let answered = answer("writeFile", request, &engine, fixture)?;
            ensure(answered["success"] == true, || format!("the write failed: {answered}"))?;
        }
    }
}

/// Carries out a reply in a process that dies between its last block and the save of the session, and again in this
/// one. Returns how often its command ran.
pub(super) fn runs_of_a_reply_after_a_crash(fixture: &Fixture) -> Result<usize, Problem> {
    const REPLY: &str =
        "[RUN_COMMAND]\necho ran >> runs\n[/RUN_COMMAND]\n[CREATE_FILE path=\"made\"]\nx\n[/CREATE_FILE]\n";
    fs::write(fixture.path().join(ORDER), REPLY)?;
    let before = {
        let sessions = fixture.sessions()?;
        sessions.create("T", Default::default(), None, &Default::default())?
    };
    let ended = start_victim(EXECUTOR, fixture)?.wait()?;
    ensure(ended.signal() == Some(Signal::KILL.as_raw()), || format!("the process was not killed: {ended}"))?;
    equal("the file that the reply makes", &"x\n".into(), &fixture.text("made")?.into())?;

    let sessions = fixture.sessions()?;
    let session = sessions.session(before.session_id)?;
    equal("the session after the crash", &serde_json::to_value(&before)?, &serde_json::to_value(&session)?)?;
    let executed = apply(&sessions, &session, REPLY, Duration::from_secs(30))?;
    ensure(executed.was_resumed, || "the reply was taken for a new one".to_owned())?;
    ensure(executed.results.iter().all(|result| result.success), || {
        format!("the results are {:?}", executed.results)
    })?;
    equal("the sequence", &2.into(), &executed.session.sequence_number.into())?;
    Ok(fixture.text("runs")?.lines().count())
}

fn execute_and_die(fixture: &Fixture) -> Result<(), Problem> {
    let reply = fs::read_to_string(fixture.path().join(ORDER))?;
    // The next outbox lists the workspace when every block is carried out.
    let sessions = fixture.sessions_over(|engine| Mortal::new(engine, die))?;
    let session = sessions.newest_unfinished()?.ok_or_else(|| Problem::new("there is no session"))?;
    apply(&sessions, &session, &reply, Duration::from_secs(30)).map(drop)
}

fn start_victim(kind: &str, fixture: &Fixture) -> Result<Child, Problem> {
    let mut command = Command::new("/proc/self/exe");
    Ok(command.args([TASK, kind]).arg(fixture.path()).stdout(Stdio::piped()).spawn()?)
}

/// Ends this process as a crash does: nothing is flushed, no destructor runs.
fn die() {
    // It cannot fail: a process may always kill itself.
    let _ = kill_process(getpid(), Signal::KILL);
}
