//! Replies that a chat has cut off, through the program.

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;

const START: &str = "[CREATE_FILE path=\"one.txt\"]\none\n[/CREATE_FILE]\n[CREATE_FILE path=\"two.txt\"]\nthe very first line of two\nthe sec";
const REST: &str = "Of course:\n\nthe very first line of two\nthe second\n[/CREATE_FILE]\n";

#[test]
fn a_reply_that_was_cut_off_is_carried_out_once_it_is_whole() {
    // Neither a trial nor a review asks: there is nothing to accept.
    for option in ["--try", "--review"] {
        let project = Project::new();
        project.begin("write two files");
        let planned = project.apply(START, &["--dry-run"]).ok();
        assert!(planned.stdout.contains("nothing would be done: the reply ends inside a block"), "{planned}");
        let planned = project.apply(START, &["--dry-run", "--json"]).ok().json();
        assert!(planned["held"].as_str().is_some_and(|why| why.contains("ends inside a block")), "{planned}");
        project.apply(START, &[option]).ok().says("the next message asks the model to go on");
        assert!(!project.workspace().join("one.txt").exists());
        let planned = project.apply(REST, &["--dry-run"]).ok();
        assert!(planned.stdout.contains("one.txt") && planned.stdout.contains("two.txt"), "{planned}");
        assert_eq!(project.apply(REST, &["--dry-run", "--json"]).ok().json().get("held"), None);
        let report = project.apply(REST, &["--json"]).ok().json();
        assert_eq!(report["results"].as_array().unwrap().len(), 2, "{report}");
        let text = std::fs::read_to_string(project.workspace().join("two.txt")).unwrap();
        assert_eq!(text, "the very first line of two\nthe second\n");
    }
}

#[test]
fn complete_blocks_run_at_once_where_the_user_wants_it() {
    let project = Project::new();
    project.begin("write two files");
    let report = project.apply(START, &["--run-complete", "--json"]).ok().json();
    assert_eq!(
        (&report["results"][0]["success"], &report["results"][1]["success"]),
        (&true.into(), &false.into())
    );
    assert!(project.workspace().join("one.txt").exists());
}

#[test]
fn complete_blocks_of_a_reply_that_was_held_first_run_once() {
    let project = Project::new();
    project.begin("write two files");
    project.apply(START, &[]).ok().says("nothing was done");
    let again = "the same text already arrived as the answer to message 1: it was cut off, and nothing of it was done";
    project.apply(START, &[]).exits(4).says(again).says("`agentd apply FILE --run-complete`");
    assert!(!project.workspace().join("one.txt").exists());
    let planned = project.apply(START, &["--dry-run", "--run-complete"]).ok();
    assert!(planned.stdout.contains("one.txt"), "{planned}");
    let report = project.apply(START, &["--run-complete", "--json"]).ok().json();
    assert_eq!(report["results"][0]["success"], true, "{report}");
    assert!(project.workspace().join("one.txt").exists());
    project
        .apply(START, &["--run-complete"])
        .exits(4)
        .says("was already executed as the answer to message 2");
}

#[test]
fn complete_blocks_that_a_crash_has_stopped_do_not_run_again_with_the_continuation() {
    let project = Project::new();
    project.begin("write two files");
    let start =
        format!("[RUN_COMMAND]\necho ran >> ran.log; touch begun; sleep 600\n[/RUN_COMMAND]\n{START}");
    project.apply(&start, &[]).ok().says("nothing was done");
    let file = project.reply_file(&start);
    let complete = ["apply", "--run-complete", file.to_str().unwrap()];
    let mut stopped = Daemon::start(project.command(&complete));
    eventually("the command runs", || project.written("begun").is_some());
    stopped.kill();
    for other in [REST, "I am sorry, what shall I do?", &format!("{start}ond\n[/CREATE_FILE]\n")] {
        let refused =
            project.apply(other, &[]).exits(4).says("blocks of the reply that was cut off have begun to run");
        refused.says("`agentd apply FILE --run-complete`");
        assert!(!project.has("one.txt"));
    }
    // The rest of what was begun is executed, also without the option; the command is not repeated.
    let report = project.apply(&start, &["--json"]).ok().json();
    assert_eq!(report["results"][0]["success"], false, "{report}");
    assert!(report["results"].to_string().contains("UNKNOWN: "), "{report}");
    assert_eq!(project.read("one.txt"), "one\n");
}

#[test]
fn a_reply_that_comes_again_runs_its_commands_once() {
    let start = "[RUN_COMMAND]\necho aaaa >> log\n[/RUN_COMMAND]\n[RUN_COMMAND]\necho bbbbbbbbbbbbbbbbbbbbbbbb >> log\necho cc";
    let whole = format!("{start} >> log\n[/RUN_COMMAND]\n");
    let all = "aaaa\nbbbbbbbbbbbbbbbbbbbbbbbb\ncc\n";
    for (text, options, log) in [(start, &["--run-complete"][..], "aaaa\n"), (&whole, &[], all)] {
        let project = Project::new();
        project.begin("write a log");
        project.apply(start, &[]).ok().says("nothing was done");
        project.apply(text, options).ok();
        assert_eq!(project.read("log"), log);
    }
    // From the inbox, cut off twice before.
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "write a log"]));
    daemon.wait_until_it_waits();
    for (name, text) in [("one.txt", start), ("two.txt", &format!("{start} >> log\necho dd"))] {
        project.put_reply(name, text);
        daemon.wait_for("was cut off");
        daemon.wait_until_it_waits();
    }
    project.put_reply("three.txt", format!("{whole}[DONE]\nWritten.\n[/DONE]\n"));
    daemon.wait().says("Written.");
    assert_eq!(project.read("log"), all);
}

#[test]
fn a_session_that_waits_goes_on_with_a_reply_that_was_cut_off() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "write two files"]));
    daemon.wait_until_it_waits();
    project.put_reply("one.txt", START);
    daemon.wait_for("was cut off");
    daemon.wait_until_it_waits();
    project.put_reply("two.txt", format!("{REST}[DONE]\nBoth.\n[/DONE]\n"));
    daemon.wait().says("Both.");
    assert!(project.workspace().join("one.txt").exists() && project.workspace().join("two.txt").exists());
}
