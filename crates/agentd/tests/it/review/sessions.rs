//! A reply to a session that waits for a review.

use serde_json::Value;

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::project::Project;

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

const REPLY: &str = r#"Reply-To: {id}-1
[EDIT_FILE path="a.txt" start_line="1" end_line="1"]
ONE
[/EDIT_FILE]
[RUN_COMMAND]
head -n 1 a.txt; echo ran >> ran.log
[/RUN_COMMAND]
[EDIT_FILE path="a.txt" start_line="5" end_line="7"]
FIVE
six
SEVEN
[/EDIT_FILE]
"#;

/// A project whose reply waits in the queue, with the process that follows the session.
pub(super) fn waiting() -> (Project, String, Daemon) {
    let project = Project::new();
    project.write("a.txt", FILE);
    let id = project.begin("change a few lines");
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", REPLY.replace("{id}", &id));
    daemon.wait_for("waits for your review: `agentd review 1`");
    (project, id, daemon)
}

#[test]
fn half_of_a_reply_lands_and_the_rest_goes_back_with_a_comment() {
    let (project, id, mut daemon) = waiting();
    let listed = project.run(&["review", "--json"]).ok().json();
    assert_eq!((&listed[0]["files"], &listed[0]["commands"]), (&1.into(), &1.into()), "{listed}");
    let review = project.run(&["review", "1"]).ok();
    review.prints("hunk 1, line 5").prints("-five").prints("+FIVE").prints("$ head -n 1 a.txt");
    // The results are real before anything has landed.
    let tried =
        project.run(&["review", "1", "--try", "--leave-out", "3:1", "--comment", "3:5=why five?", "--json"]);
    let tried = tried.ok().json();
    assert_eq!(tried["steps"][1]["output"], "ONE", "{tried}");
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.has("ran.log"));
    project.run(&["review", "1", "--land"]).ok();
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    // What ran on the overlay did not run again.
    assert_eq!(project.read("ran.log"), "ran\n");
    // One that has landed says so, and is not to be tried again.
    let over = project.run(&["review", "1", "--list"]).ok().prints("  (landed)\n").prints("tried out:");
    assert!(!over.stdout.contains("try it again"), "{over}");
    daemon.wait_for("message 2 to copy into the chat");
    let outbox = project.outbox(&id, 2);
    for said in
        ["[OK] EDIT_FILE", "Output: ONE", "## Review", "a.txt, of your version: line 5", "> FIVE\nwhy five?"]
    {
        assert!(outbox.contains(said), "no '{said}' in {outbox}");
    }
    assert!(!outbox.contains("[FAILED]"), "{outbox}");
    daemon.interrupt().exits(130);
    // All that landed is one reply, and one undo.
    project.run(&["undo", "--reply"]).ok();
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.has("ran.log"));
}

#[test]
fn a_reply_that_is_sent_back_changes_nothing() {
    let (project, id, mut daemon) = waiting();
    project.run(&["review", "1", "--send-back", "--say", "Start with the tests."]).ok().says("sent back");
    daemon.wait_for("message 2 to copy into the chat");
    assert_eq!(project.read("a.txt"), FILE);
    let outbox = project.outbox(&id, 2);
    assert!(
        outbox.contains("carried out nothing of it") && outbox.contains("Start with the tests."),
        "{outbox}"
    );
    assert_eq!(outbox.matches("[FAILED]").count(), 3, "{outbox}");
    assert_eq!(outbox.matches("the user sent this back").count(), 3, "{outbox}");
    assert!(!outbox.contains("left this out"), "{outbox}");
    daemon.interrupt().exits(130);
}

#[test]
fn a_command_that_ran_and_failed_has_landed() {
    let project = Project::new();
    let id = project.begin("run the tests");
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", format!("Reply-To: {id}-1\n[RUN_COMMAND]\nexit 3\n[/RUN_COMMAND]\n"));
    daemon.wait_for("waits for your review: `agentd review 1`");
    let landed = project.run(&["review", "1", "--land"]).ok().says("proposal 1 landed: 0 done, 1 failed");
    assert_eq!(landed.stdout.matches("exit code 3").count(), 1, "{landed}");
    project.run(&["review", "1", "--list"]).ok().prints("  (landed)\n");
    daemon.wait_for("message 2 to copy into the chat");
    daemon.interrupt().exits(130);
}

#[test]
fn a_trial_does_not_keep_its_reply_from_being_sent_back() {
    let (project, id, mut daemon) = waiting();
    project.run(&["review", "1", "--try"]).ok();
    project.run(&["review", "1", "--send-back"]).ok().says("sent back");
    daemon.wait_for("message 2 to copy into the chat");
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.has("ran.log"));
    assert_eq!(project.outbox(&id, 2).matches("the user sent this back").count(), 3);
    daemon.interrupt().exits(130);
}

#[test]
fn a_trial_does_not_keep_a_choice_without_commands_from_landing() {
    let (project, _, mut daemon) = waiting();
    project.run(&["review", "1", "--try"]).ok();
    project.run(&["review", "1", "--leave-out", "2"]).ok();
    project.run(&["review", "1", "--land"]).ok();
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\nsix\nSEVEN\n");
    assert!(!project.has("ran.log"));
    daemon.wait_for("message 2 to copy into the chat");
    daemon.interrupt().exits(130);
}

#[test]
fn the_next_reply_is_shown_against_the_one_that_was_sent_back() {
    let (project, id, mut daemon) = waiting();
    let first = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(first["since"], Value::Null, "there was no review yet: {first}");
    project.run(&["review", "1", "--send-back", "--say", "Four as well."]).ok();
    daemon.wait_for("message 2 to copy into the chat");
    let second = REPLY
        .replace("{id}-1", &format!("{id}-2"))
        .replace("start_line=\"5\" end_line=\"7\"]\n", "start_line=\"4\" end_line=\"7\"]\nFOUR\n")
        .replace("head -n 1 a.txt", "head -n 2 a.txt");
    project.put_reply("second.txt", second);
    daemon.wait_for("waits for your review: `agentd review 2`");
    let plain = project.run(&["review", "2"]).ok();
    plain
        .prints("the same as at your review of proposal 1")
        .prints("--since shows the difference")
        .prints("new since your last review")
        .prints("-five")
        .prints("not proposed again: run head -n 1 a.txt");
    let since = project.run(&["review", "2", "--since"]).ok();
    let since = since.prints("the difference to your review of proposal 1:").prints("+FOUR");
    assert!(!since.stdout.contains("+FIVE"), "that was seen: {}", since.stdout);
    project.run(&["review", "2", "--land"]).ok();
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nFOUR\nFIVE\nsix\nSEVEN\n");
    daemon.interrupt().exits(130);
}

#[test]
fn a_folder_that_has_changed_is_planned_and_tried_again_before_anything_lands() {
    let project = Project::new();
    project.write("a.txt", FILE);
    let id = project.begin("change a few lines");
    project.apply("[READ_FILE path=\"a.txt\"]\n", &[]).ok();
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", REPLY.replace("{id}-1", &format!("{id}-2")));
    daemon.wait_for("waits for your review: `agentd review 1`");
    project.run(&["review", "1", "--try", "--comment", "3:7=keep it small"]).ok();
    project.write("a.txt", &format!("zero\n{FILE}"));
    let review = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(review["tried"]["isHeld"], false, "{review}");
    // The comment has moved with its line.
    assert_eq!(review["positions"][0]["lines"]["first"], 8, "{review}");
    assert_eq!(project.read("a.txt"), format!("zero\n{FILE}"));
    project.run(&["review", "1", "--land"]).ok();
    assert_eq!(project.read("a.txt"), "zero\nONE\ntwo\nthree\nfour\nFIVE\nsix\nSEVEN\n");
    daemon.wait_for("your review has been applied");
    daemon.interrupt().exits(130);
}

#[test]
fn a_draft_survives_the_end_of_every_process() {
    let (project, _, mut daemon) = waiting();
    project.run(&["review", "1", "--leave-out", "2", "--comment", "1=a word"]).ok();
    daemon.kill();
    let review = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(review["draft"]["comments"][0]["text"], "a word", "{review}");
    assert_eq!(review["draft"]["selection"]["1"], "leaveOut", "{review}");
    // The process that takes over finds the same proposal, and no second one.
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_for("waits for your review: `agentd review 1`");
    assert_eq!(project.run(&["review", "--json"]).ok().json().as_array().map(Vec::len), Some(1));
    project.run(&["review", "1", "--send-back"]).ok();
    daemon.wait_for("message 2 to copy into the chat");
    daemon.interrupt().exits(130);
}

#[test]
fn with_commands_alone_under_review_edits_go_through() {
    let project = Project::new();
    project.write("a.txt", FILE);
    let id = project.begin("change a few lines");
    let mut daemon = Daemon::start(project.command(&["resume", "--review=commands"]));
    daemon.wait_until_it_waits();
    let edit = format!(
        "Reply-To: {id}-1\n[EDIT_FILE path=\"a.txt\" start_line=\"1\" end_line=\"1\"]\nONE\n[/EDIT_FILE]\n"
    );
    project.put_reply("one.txt", edit);
    eventually("the edit is made", || project.read("a.txt").starts_with("ONE"));
    daemon.wait_for("message 2 to copy into the chat");
    project.put_reply(
        "two.txt",
        format!("Reply-To: {id}-2\n[RUN_COMMAND]\necho ran > ran.log\n[/RUN_COMMAND]\n"),
    );
    daemon.wait_for("waits for your review: `agentd review 1`");
    assert!(!project.has("ran.log"));
    daemon.interrupt().exits(130);
}

#[test]
fn choices_that_do_not_exist_are_refused() {
    let (project, _, daemon) = waiting();
    for (option, value) in [
        ("--leave-out", "9"),
        ("--leave-out", "0"),
        ("--leave-out", "3:7"),
        ("--comment", "3:99=beyond the file"),
        ("--comment", "7=no such step"),
    ] {
        project.run(&["review", "1", option, value]).exits(2);
    }
    project.run(&["review", "2"]).exits(2).says("there is no proposal 2").says("`agentd review --all`");
    let review: Value = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(review["draft"]["revision"], 0, "{review}");
    daemon.interrupt().exits(130);
}

#[test]
fn a_number_without_a_proposal_is_refused_also_where_no_session_has_been() {
    let project = Project::new();
    project.run(&["review"]).ok().says("no proposal waits for a review");
    for more in [&["--land"][..], &["--send-back", "--say", "no"], &["--json"], &["--plain"], &[]] {
        project.run(&[&["review", "1"], more].concat()).exits(2).says("there is no proposal 1");
    }
}
