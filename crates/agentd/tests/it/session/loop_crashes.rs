//! `kill -9` of `agentd new --model` at any moment: resumed, the session has the same end, the program is not called again for a
//! reply that had arrived, and no command runs twice.
//!
//! `LOOP_CRASH_RUNS` says how many sessions; `cargo xtask soak loop` sets it.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::fixture::project::{Project, Ran};

/// The sessions of an ordinary run of the tests.
const USUAL_RUNS: usize = 3;

/// The kills of one session, before it may end.
const KILLS: u32 = 4;

/// The replies by the number of the message: each edits a file and has a command append to another one.
const ROUNDS: u32 = 3;

fn some_number(last: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    // Nearby times give numbers far apart.
    (now.as_nanos() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) % (last + 1)
}

fn reply(number: u32) -> String {
    match number {
        number if number <= ROUNDS => format!(
            "[CREATE_FILE path=\"{number}.txt\"]\nversion {number}\n[/CREATE_FILE]\n\
             [RUN_COMMAND]\nsleep 0.05; echo {number} >> log.txt\n[/RUN_COMMAND]\n"
        ),
        _ => "[DONE]\nall is well\n[/DONE]\n".to_owned(),
    }
}

/// A session that a model program drives, and what the program has written down.
struct Session {
    project: Project,
}

impl Session {
    fn new() -> Session {
        let session = Session { project: Project::new() };
        fs::create_dir(session.model()).unwrap();
        for number in 1..=ROUNDS + 1 {
            fs::write(session.model().join(number.to_string()), reply(number)).unwrap();
        }
        session
    }

    fn model(&self) -> PathBuf {
        self.project.folder().join("model")
    }

    /// A program that notes each message that it is called for, with the number of the process that calls it.
    fn command(&self) -> String {
        format!(
            "cd '{}'; number=$(sed -n 's/^Sequence: //p' | head -n 1); echo \"$RUN $number\" >> begun; cat $number",
            self.model().display()
        )
    }

    fn has_begun(&self) -> bool {
        self.project.run(&["--json", "sessions"]).json().as_array().is_some_and(|all| !all.is_empty())
    }

    /// The numbers of messages with a reply that has arrived, in the inbox or beyond it.
    fn arrived(&self) -> Vec<u32> {
        let number = |name: &str| name.split("_seq").nth(1)?.get(..4)?.parse().ok();
        let inbox = self.project.inbox();
        let folders = [inbox.clone(), inbox.join("processed")];
        let names = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.ends_with("_model.txt")).filter_map(|name| number(&name)).collect()
    }

    #[track_caller]
    fn assert_not_called_again(&self, run: u32, arrived: &[u32], context: &str) {
        let begun = fs::read_to_string(self.model().join("begun")).unwrap_or_default();
        for line in begun.lines().filter_map(|line| line.strip_prefix(&format!("{run} "))) {
            // A process that is killed before it has written the message leaves the program with nothing.
            let Ok(number) = line.parse() else { continue };
            assert!(!arrived.contains(&number), "{context}: the reply to {number} had arrived\n{begun}");
        }
    }
}

#[test]
fn a_killed_loop_comes_to_the_same_end() {
    let runs = std::env::var("LOOP_CRASH_RUNS").map_or(USUAL_RUNS, |runs| runs.parse().unwrap());
    let (mut cut, mut called_again) = (0, 0);
    // A kill may come at any moment of a session: the control, which is not killed, says how long one takes here and now.
    let control = Session::new();
    let begun = Instant::now();
    control.project.run(&["new", "count", "--model", &control.command()]).ok().says("all is well");
    let last_moment = u64::try_from(begun.elapsed().as_millis()).unwrap();
    assert_eq!(control.project.read("log.txt"), "1\n2\n3\n");
    for index in 0..runs {
        let session = Session::new();
        let program = session.command();
        let mut moments = Vec::new();
        for run in 0.. {
            let arrived = session.arrived();
            let begin: &[&str] = if session.has_begun() { &["resume"] } else { &["new", "count"] };
            let mut command = session.project.command(&[begin, &["--model", &program]].concat());
            command.env("RUN", run.to_string());
            let context = format!("session {index}, killed after {moments:?} ms");
            if run == KILLS {
                let ran = Ran::of(command.output().unwrap());
                session.assert_not_called_again(run, &arrived, &context);
                // One that had its end before says so.
                let is_over =
                    ran.stderr.contains("nothing to resume") || ran.stderr.contains("no unfinished session");
                assert!(is_over || ran.code == 0 && ran.stderr.contains("all is well"), "{context}\n{ran}");
                break;
            }
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let moment = some_number(last_moment);
            thread::sleep(Duration::from_millis(moment));
            moments.push(moment);
            child.kill().unwrap();
            child.wait().unwrap();
            session.assert_not_called_again(run, &arrived, &context);
        }
        let context = format!("session {index}, killed after {moments:?} ms");
        for number in 1..=ROUNDS {
            assert_eq!(
                session.project.read(&format!("{number}.txt")),
                format!("version {number}\n"),
                "{context}"
            );
        }
        // A command that a crash cut off has no effect and is not run again; none has two.
        let log = session.project.written("log.txt").unwrap_or_default();
        let lines: Vec<u32> = log.lines().map(|line| line.parse().unwrap()).collect();
        assert!(lines.is_sorted_by(|one, next| one < next), "{context}: {log}");
        cut += ROUNDS as usize - lines.len();
        let begun = fs::read_to_string(session.model().join("begun")).unwrap();
        called_again += begun.lines().count() - (ROUNDS as usize + 1);
    }
    println!(
        "{runs} sessions, each killed {KILLS} times within {last_moment} ms: {cut} commands and {called_again} calls of the program were cut off"
    );
}
