//! Ctrl-C and SIGTERM at any moment.

use std::fs;

use test_support::skip;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;
use crate::fixture::tmux::Tmux;

#[test]
fn a_signal_while_waiting_ends_it_and_the_session_goes_on_later() {
    for signal in ["INT", "TERM", "HUP"] {
        let project = Project::new();
        let mut daemon = Daemon::start(project.command(&["new", "wait a little"]));
        daemon.wait_until_it_waits();
        daemon.signal(signal);
        daemon.wait().exits(130).says("stopped; `agentd resume` continues");
        let mut daemon = Daemon::start(project.command::<&str>(&[]));
        daemon.wait_for("wait a little");
        daemon.wait_until_it_waits();
        daemon.interrupt().exits(130);
    }
}

/// Checks whether any process on this machine has this word among its arguments.
pub(crate) fn runs_anywhere(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|arguments| arguments.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

/// A reply whose second command lasts; `duration` names it among the processes of the machine.
fn reply(duration: &str) -> String {
    format!(
        "[CREATE_FILE path=\"made.txt\"]\nmade\n[/CREATE_FILE]\n\
         [RUN_COMMAND]\necho one >> ran.log\n[/RUN_COMMAND]\n\
         [RUN_COMMAND]\necho two >> ran.log; sleep {duration} & setsid sleep {duration} & sleep {duration}; echo end >> ran.log\n[/RUN_COMMAND]\n\
         [EDIT_FILE path=\"made.txt\" start_line=\"1\" end_line=\"1\"]\nedited\n[/EDIT_FILE]\n\
         [RUN_COMMAND]\necho three >> ran.log\n[/RUN_COMMAND]\n"
    )
}

#[track_caller]
fn check_after_resume(project: &Project, id: &str) {
    assert_eq!(project.read("ran.log"), "one\ntwo\nthree\n");
    assert_eq!(project.read("made.txt"), "edited\n");
    let session = project.session_file(id);
    let results = session["lastResults"].as_array().unwrap();
    let successes: Vec<_> = results.iter().map(|result| result["success"].as_bool().unwrap()).collect();
    assert_eq!(successes, [true, true, false, true, true]);
    let summary = results[2]["summary"].as_str().unwrap();
    assert!(summary.starts_with("Command cancelled by the user"), "{summary}");
}

#[test]
fn ctrl_c_kills_the_command_with_all_it_started_and_resuming_does_the_rest() {
    let project = Project::new();
    let id = project.begin("be interrupted");
    let duration = format!("30{}", std::process::id());
    project.put_reply("reply.txt", reply(&duration));
    // Without a layer it shows in the folder how far a command has come.
    let mut daemon = Daemon::start(project.command(&["resume", "--layer=off"]));
    daemon.wait_until_it_waits();
    eventually("the command runs", || project.written("ran.log").as_deref() == Some("one\ntwo\n"));
    eventually("all of it runs", || runs_anywhere(&duration));
    let ran = daemon.interrupt().exits(130).says("stopped in the middle of the reply");
    ran.says("the reply is still in the inbox: `agentd resume` continues with the rest of it");
    assert!(!runs_anywhere(&duration), "something of the command survived");
    assert_eq!(project.read("made.txt"), "made\n");
    assert_eq!(project.names("inbox"), ["reply.txt"]);
    let report = project.run(&["show", &id]).ok();
    assert!(report.stdout.contains("not finished"), "{report}");

    let mut daemon = Daemon::start(project.command(&["resume"]));
    daemon.wait_for("message 2 to copy");
    daemon.interrupt().exits(130);
    check_after_resume(&project, &id);
}

#[test]
fn sigterm_during_apply_ends_it_and_applying_again_does_the_rest() {
    let project = Project::new();
    let id = project.begin("be interrupted");
    let duration = format!("31{}", std::process::id());
    let file = project.reply_file(reply(&duration));
    let arguments = ["--layer=off".as_ref(), "apply".as_ref(), file.as_os_str()];
    let daemon = Daemon::start(project.command(&arguments));
    eventually("the command runs", || project.written("ran.log").as_deref() == Some("one\ntwo\n"));
    daemon.signal("TERM");
    daemon.wait().exits(130).says("apply the same reply again for the rest");
    assert!(!runs_anywhere(&duration), "something of the command survived");
    project.run(&arguments).ok();
    check_after_resume(&project, &id);
}

#[test]
fn ctrl_c_between_two_blocks_leaves_each_of_them_done_once() {
    let commands = 12;
    let reply: String = (0..commands)
        .map(|number| format!("[RUN_COMMAND]\necho {number} >> ran.log\n[/RUN_COMMAND]\n"))
        .collect();
    for after in [1, 4, 7] {
        let project = Project::new();
        let id = project.begin("be interrupted");
        project.put_reply("reply.txt", &reply);
        let mut daemon = Daemon::start(project.command(&["resume"]));
        for _ in 0..after {
            daemon.wait_for("  ok      RUN_COMMAND");
        }
        daemon.interrupt().exits(130);
        let mut daemon = Daemon::start(project.command(&["resume"]));
        eventually("the reply is executed", || project.outbox_file(&id, 2).exists());
        daemon.wait_until_it_waits();
        daemon.interrupt().exits(130);
        let ran = project.read("ran.log");
        let session = project.session_file(&id);
        let results = session["lastResults"].as_array().unwrap();
        let expected: String = (0..commands)
            .filter(|number| {
                let result = &results[*number];
                // Killed before it came to its only line; it says so.
                result["success"] == true || ran.lines().any(|line| line == number.to_string())
            })
            .map(|number| format!("{number}\n"))
            .collect();
        assert_eq!(ran, expected, "{results:?}");
        let failures = results.iter().filter(|result| result["success"] == false).count();
        assert!(failures <= 1, "only the command that ran may have been stopped: {results:?}");
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let project = Project::new();
    project.begin("be stubborn");
    let file = project.reply_file("[RUN_COMMAND]\necho begun > ran.log; sleep 40\n[/RUN_COMMAND]\n");
    let daemon = Daemon::start(project.command(&["apply".as_ref(), file.as_os_str()]));
    eventually("the command runs", || project.written("ran.log").is_some());
    // Stopped in between, it has both before it does anything about the first. Two of one kind would count as one.
    for signal in ["STOP", "INT", "TERM", "CONT"] {
        daemon.signal(signal);
    }
    daemon.wait().exits(130);
}

#[test]
fn one_signal_is_enough_at_a_question() {
    let reply = "[CREATE_FILE path=\"new\"]\nx\n[/CREATE_FILE]\n";
    let questions = [
        (&["resume", "--review"][..], "execute this reply?", "stopped; `agentd resume` continues"),
        (&["apply", "--review"], "execute this reply?", "nothing was executed"),
        (&["apply", "--try"], "keep all of this?", "nothing was kept"),
    ];
    for (words, question, end) in questions {
        for is_key in [true, false] {
            let project = Project::new();
            project.begin("make a file");
            let file = project.reply_file(reply);
            let more = if words[0] == "apply" { vec![file.to_str().unwrap()] } else { Vec::new() };
            let command = project.command(&[words, &more].concat());
            let Some(tmux) = Tmux::start(&command, &project.folder().join("tmp"), (120, 30)) else {
                return skip(
                    "one_signal_is_enough_at_a_question",
                    "there is no program `tmux`; `cargo xtask setup` installs it",
                );
            };
            if words[0] == "resume" {
                project.put_reply("reply.txt", reply);
            }
            tmux.wait_for(question);
            if is_key {
                tmux.press("C-c");
            } else {
                tmux.signal("TERM");
            }
            let screen = tmux.ends_and_restores(130);
            assert!(screen.contains(end), "{words:?}\n{screen}");
            assert!(!project.has("new"), "{words:?}");
            assert_eq!(project.base().join("inbox/reply.txt").exists(), words[0] == "resume");
        }
    }
}
