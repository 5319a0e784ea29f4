//! `kill -9` at any moment of a reply: resuming gives what an undisturbed run gives, and no command runs twice.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::at_once::at_once;
use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;
use crate::session::interrupts::runs_anywhere;

/// Every command appends its own line to `ran.log`, so that one that runs twice shows.
const REPLY: &str = r#"Reply-To: {reply-to}

First a new file, and the top of the table.

[CREATE_FILE path="notes/plan.md"]
# Plan

1. widen the table
[/CREATE_FILE]
[EDIT_FILE path="table.txt" start_line="2" end_line="2"]
row 2, first half
row 2, second half
[/EDIT_FILE]
[RUN_COMMAND]
echo one >> ran.log; sleep 0.1; wc -l < table.txt
[/RUN_COMMAND]
The numbers below are those of the table as I saw it.
[EDIT_FILE path="table.txt" start_line="8" end_line="9"]
rows 8 and 9
[/EDIT_FILE]
[READ_FILE path="table.txt"]
[RUN_COMMAND]
sleep 0.1; echo two >> ran.log; cat table.txt
[/RUN_COMMAND]
[DELETE_FILE path="old.txt"]
[EDIT_FILE path="table.txt" start_line="40" end_line="41"]
this cannot be
[/EDIT_FILE]
[RUN_COMMAND]
echo three >> ran.log; sleep 0.1; ls
[/RUN_COMMAND]
[READ_FILE path="notes/plan.md"]
"#;

const BLOCKS: usize = 10;
const COMMANDS: [&str; 3] = ["one", "two", "three"];

/// The factor by which the number of rounds is raised.
fn soak_factor() -> u32 {
    std::env::var("SOAK_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

/// A project whose session waits for the reply.
struct Waiting {
    project: Project,
    id: String,
    reply: String,
}

fn waiting() -> Waiting {
    let project = Project::new();
    let rows: String = (1..=10).map(|row| format!("row {row}\n")).collect();
    project.write("table.txt", &rows).write("old.txt", "old\n").write("ran.log", "");
    let id = project.begin("widen the table");
    project.apply("[READ_FILE path=\"table.txt\"]\n", &[]).ok();
    let reply = REPLY.replace("{reply-to}", &format!("{id}-2"));
    Waiting { project, id, reply }
}

/// Everything that a reply leaves.
#[derive(Debug, PartialEq)]
struct Left {
    tree: Vec<(String, String)>,
    session: Value,
    outbox: String,
}

impl Left {
    fn by(project: &Project, id: &str) -> Left {
        let mut session = project.session_file(id);
        session["updatedAt"] = Value::Null;
        session["lastAnswer"]["moment"] = Value::Null;
        Left { tree: project.tree(), session, outbox: project.outbox(id, 3) }
    }

    /// Returns the commands that ran, in order.
    fn ran(&self) -> Vec<&str> {
        let log = self.tree.iter().find(|(path, _)| path == "ran.log").unwrap();
        log.1.lines().collect()
    }

    fn summaries(&self) -> Vec<String> {
        let results = self.session["lastResults"].as_array().unwrap();
        results.iter().map(|result| result["summary"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the blocks that are answered as unknown.
    fn unknown(&self) -> Vec<usize> {
        let summaries = self.summaries();
        (0..summaries.len()).filter(|index| summaries[*index].starts_with("UNKNOWN: ")).collect()
    }

    /// The same without the effects of commands whose outcome is unknown: their results, and the log.
    fn without(&self, blocks: &[usize]) -> Left {
        let mut session = self.session.clone();
        let results = session["lastResults"].as_array_mut().unwrap();
        for block in blocks {
            results[*block] = Value::Null;
        }
        let listed = session["listed"].as_array_mut().unwrap();
        listed.retain(|line| !line.as_str().unwrap().starts_with("ran.log "));
        let tree = self.tree.iter().filter(|(path, _)| path != "ran.log").cloned().collect();
        let (mut outbox, mut block, mut is_in_results) = (String::new(), 0, false);
        for line in self.outbox.lines() {
            is_in_results |= line.starts_with("[OK] ") || line.starts_with("[FAILED] ");
            if is_in_results && !line.starts_with(' ') && !line.is_empty() {
                is_in_results = line.starts_with('[');
                block += usize::from(is_in_results);
            }
            let is_left_out = is_in_results && blocks.iter().any(|left_out| left_out + 1 == block);
            if !is_left_out && !line.contains("ran.log") {
                outbox.push_str(line);
                outbox.push('\n');
            }
        }
        Left { tree, session, outbox }
    }
}

/// Compares with an undisturbed run. A command that was killed in the middle may be answered as unknown, and only then
/// may its line be missing; nothing else may differ in a byte.
#[track_caller]
fn check(left: &Left, undisturbed: &Left, killed: &str) {
    let unknown = left.unknown();
    if unknown.is_empty() {
        assert_eq!(left, undisturbed, "killed {killed}");
        return;
    }
    assert_eq!(left.without(&unknown), undisturbed.without(&unknown), "killed {killed}");
    let results = undisturbed.session["lastResults"].as_array().unwrap();
    let commands: Vec<_> =
        (0..results.len()).filter(|index| results[*index]["commandType"] == "RUN_COMMAND").collect();
    let mut ran = left.ran().into_iter().peekable();
    for (command, line) in commands.iter().zip(COMMANDS) {
        let has_run = ran.next_if_eq(&line).is_some();
        assert!(has_run || unknown.contains(command), "'{line}' did not run; killed {killed}");
    }
    assert_eq!(ran.next(), None, "a command ran twice; killed {killed}");
}

/// Continues the session until the next outbox is there and the reply is in processed.
#[track_caller]
fn resume_to_the_end(project: &Project, id: &str) {
    let mut daemon = Daemon::start(project.command(&["resume", id]));
    daemon.wait_until_it_waits();
    eventually("the next message is written", || {
        assert!(daemon.is_running(), "it ended");
        project.outbox_file(id, 3).exists() && project.names("inbox").is_empty()
    });
    let ran = daemon.interrupt().exits(130);
    assert_eq!(project.names("inbox/set-aside"), [""; 0], "{ran}");
    assert_eq!(project.names("inbox/processed"), ["reply.txt"], "{ran}");
}

fn undisturbed(waiting: &Waiting) -> (Left, Duration) {
    let project = waiting.project.copy();
    project.put_reply("reply.txt", &waiting.reply);
    let started = Instant::now();
    resume_to_the_end(&project, &waiting.id);
    let left = Left::by(&project, &waiting.id);
    assert_eq!(left.ran(), COMMANDS);
    assert_eq!(left.summaries().len(), BLOCKS);
    assert_eq!(left.unknown(), [0; 0]);
    (left, started.elapsed())
}

/// Both with and without the token: without it only the text says which message a reply answers.
fn spelled(waiting: &Waiting, with_token: bool) -> String {
    if with_token { waiting.reply.clone() } else { waiting.reply.split_once("\n\n").unwrap().1.to_owned() }
}

#[test]
fn killed_after_any_block_the_reply_goes_on_with_the_next() {
    let waiting = waiting();
    let (undisturbed, _) = undisturbed(&waiting);
    let rounds: Vec<u32> = (0..(BLOCKS as u32 + 1) * soak_factor()).collect();
    at_once(&rounds, |round| {
        let after = *round as usize % (BLOCKS + 1);
        let project = waiting.project.copy();
        project.put_reply("reply.txt", spelled(&waiting, round % 2 == 0));
        let mut daemon = Daemon::start(project.command(&["resume", &waiting.id]));
        daemon.wait_for("received reply.txt");
        for _ in 0..after {
            // The line of a block begins with how it ended.
            daemon.wait_for_any(&["  ok      ", "  failed  "]);
        }
        daemon.kill();
        resume_to_the_end(&project, &waiting.id);
        check(&Left::by(&project, &waiting.id), &undisturbed, &format!("after block {after}"));
    });
}

#[test]
fn killed_at_any_time_the_reply_ends_as_if_it_had_not_been() {
    let waiting = waiting();
    let (undisturbed, lasted) = undisturbed(&waiting);
    let rounds: Vec<u32> = (0..12 * soak_factor()).collect();
    at_once(&rounds, |round| {
        let project = waiting.project.copy();
        project.put_reply("reply.txt", spelled(&waiting, round % 2 == 0));
        let mut daemon = Daemon::start(project.command(&["resume", &waiting.id]));
        let delay = lasted * (round + 1) / rounds.len() as u32;
        std::thread::sleep(delay);
        daemon.kill();
        resume_to_the_end(&project, &waiting.id);
        check(&Left::by(&project, &waiting.id), &undisturbed, &format!("after {delay:?}"));
    });
}

#[test]
fn killed_again_and_again_the_reply_still_ends() {
    let waiting = waiting();
    let (undisturbed, lasted) = undisturbed(&waiting);
    for round in 0..soak_factor() {
        let project = waiting.project.copy();
        let file = project.reply_file(&waiting.reply);
        let arguments = ["apply".as_ref(), file.as_os_str()];
        for kill in 0..6 {
            let mut daemon = Daemon::start(project.command(&arguments));
            std::thread::sleep(lasted * (kill + 2 + round % 3) / 12);
            daemon.kill();
        }
        project.run(&arguments).ok();
        check(&Left::by(&project, &waiting.id), &undisturbed, "again and again");
        // Once more changes nothing at all.
        let before = Left::by(&project, &waiting.id);
        project.run(&arguments).ok().says("executed before");
        assert_eq!(Left::by(&project, &waiting.id), before);
    }
}

#[test]
fn a_command_dies_with_the_daemon_and_is_not_run_again() {
    let project = Project::new();
    let id = project.begin("wait");
    let reply = "[RUN_COMMAND]\necho begun >> ran.log; sleep 3; echo ended >> ran.log\n[/RUN_COMMAND]\n\
                 [RUN_COMMAND]\necho next >> ran.log\n[/RUN_COMMAND]\n";
    let file = project.reply_file(reply);
    // Without a layer it shows in the folder that it has begun.
    let arguments = ["--layer=off".as_ref(), "apply".as_ref(), file.as_os_str()];
    let mut daemon = Daemon::start(project.command(&arguments));
    eventually("the command has begun", || project.written("ran.log").as_deref() == Some("begun\n"));
    daemon.kill();
    std::thread::sleep(Duration::from_millis(3_300));
    assert_eq!(project.read("ran.log"), "begun\n", "the command outlived the daemon");
    let ran = project.run(&arguments).ok();
    assert_eq!(project.read("ran.log"), "begun\nnext\n", "{ran}");
    let outbox = project.outbox(&id, 2);
    assert!(
        outbox.contains("[FAILED] RUN_COMMAND: UNKNOWN: the daemon stopped while this command ran"),
        "{outbox}"
    );
}

#[test]
fn nothing_of_a_command_that_died_with_the_daemon_is_kept() {
    let project = Project::new();
    let id = project.begin("wait");
    let duration = format!("32{}", std::process::id());
    let reply = format!(
        "[RUN_COMMAND]\necho begun >> ran.log; sleep {duration}\n[/RUN_COMMAND]\n\
         [RUN_COMMAND]\necho next >> ran.log\n[/RUN_COMMAND]\n"
    );
    let file = project.reply_file(reply);
    let arguments = ["apply".as_ref(), file.as_os_str()];
    let mut daemon = Daemon::start(project.command(&arguments));
    eventually("the command has begun", || runs_anywhere(&duration));
    daemon.kill();
    eventually("the command is gone", || !runs_anywhere(&duration));
    let ran = project.run(&arguments).ok();
    assert_eq!(project.read("ran.log"), "next\n", "{ran}");
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("[FAILED] RUN_COMMAND: UNKNOWN: "), "{outbox}");
}

#[test]
fn killed_before_the_reply_was_put_away_it_is_put_away_and_not_answered_twice() {
    let project = Project::new();
    let id = project.begin("log once");
    // No token: only where the file comes from tells that it is not meant once more.
    let reply = "[RUN_COMMAND]\necho once >> ran.log\n[/RUN_COMMAND]\n[DONE]\nlogged\n[/DONE]\n";
    project.put_reply("reply.txt", reply);
    Daemon::start(project.command(&["resume", &id])).wait().ok().says("done: logged");
    // As it was between the commit and the move.
    let (processed, inbox) = (project.inbox().join("processed/reply.txt"), project.inbox().join("reply.txt"));
    std::fs::rename(&processed, &inbox).unwrap();
    let mut daemon = Daemon::start(project.command(&["new", "something else"]));
    daemon.wait_for("inbox/reply.txt was executed before the last stop");
    daemon.wait_until_it_waits();
    daemon.interrupt().exits(130);
    assert!(processed.exists() && !inbox.exists());
    assert_eq!(project.read("ran.log"), "once\n");
}
