//! Proposals whose reply was saved again, or whose session has moved on.

use std::fs;

use crate::fixture::daemon::Daemon;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

const REPLY: &str = "[CREATE_FILE path=\"new.txt\"]\nnew\n[/CREATE_FILE]\n";
const OTHER: &str = "[CREATE_FILE path=\"other.txt\"]\nother\n[/CREATE_FILE]\n";

/// A project with a proposal whose session no process follows any more.
fn left() -> (Project, String) {
    let project = Project::new();
    let id = project.begin("make a file");
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", REPLY);
    daemon.wait_for("waits for your review: `agentd review 1`");
    drop(daemon);
    (project, id)
}

fn proposals(project: &Project) -> usize {
    project.run(&["review", "--all", "--json"]).ok().json().as_array().unwrap().len()
}

#[test]
fn a_reply_that_is_saved_again_while_it_waits_lands() {
    let (project, id) = left();
    project.put_reply("reply.txt", REPLY);
    // Another process that follows the session finds the proposal that waits, and makes no second one.
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_for("waits for your review: `agentd review 1`");
    project.put_reply("reply.txt", REPLY);
    project.run(&["review", "1", "--land"]).ok();
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("new.txt"), "new\n");
    assert!(project.outbox(&id, 2).contains("[OK] CREATE_FILE"));
    assert_eq!(proposals(&project), 1);
    assert!(!project.base().join("inbox/reply.txt").exists(), "it was moved");
}

#[test]
fn a_proposal_whose_file_is_another_reply_by_now_is_closed_without_a_change() {
    let (project, _) = left();
    project.put_reply("reply.txt", OTHER);
    project.run(&["review", "1", "--land"]).exits(4).says("is another reply by now");
    project.run(&["review", "1", "--send-back"]).ok().says("closed without an answer");
    project.run(&["review", "1", "--send-back"]).exits(1).says("over already");
    project.run(&["review", "1", "--drop"]).exits(1).says("over already");
    assert!(!project.has("new.txt") && !project.has("other.txt"));
    // The other reply is still there to be read.
    assert_eq!(fs::read_to_string(project.base().join("inbox/reply.txt")).unwrap(), OTHER);
}

#[test]
fn a_proposal_whose_session_has_moved_on_is_closed() {
    let (project, id) = left();
    project.apply(OTHER, &["--session", &id]).ok();
    project.run(&["review", "1", "--land"]).exits(4).says("has moved on").says("--send-back` closes it");
    project.run(&["review", "1", "--send-back"]).ok().says("closed");
    let listed = project.run(&["review", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 0, "{listed}");
    assert!(!project.has("new.txt"));
}

#[test]
fn a_proposal_whose_session_is_complete_is_closed() {
    let (project, id) = left();
    project.apply("[DONE]\nall of it\n[/DONE]\n", &["--session", &id]).ok();
    project.run(&["review", "1", "--land"]).exits(4).says("--send-back` closes it");
    project.run(&["review", "1", "--send-back"]).ok().says("closed without an answer");
    assert!(!project.has("new.txt"));
}

#[test]
fn nothing_of_a_trial_is_adopted_for_a_reply_that_is_another_one_by_now() {
    let (project, _) = left();
    project.run(&["review", "1", "--try"]).ok();
    project.put_reply("reply.txt", OTHER);
    project.run(&["review", "1", "--land"]).exits(4).says("is another reply by now");
    assert!(!project.has("new.txt"));
    // Control: with the file as it was, the trial is adopted.
    project.put_reply("reply.txt", REPLY);
    project.run(&["review", "1", "--land"]).ok();
    assert_eq!(project.read("new.txt"), "new\n");
}

#[test]
fn a_proposal_whose_reply_was_executed_without_it_is_not_called_undone() {
    let (project, id) = left();
    project.apply(REPLY, &["--session", &id]).ok();
    project.run(&["review", "1", "--land"]).exits(4).says("was executed before");
    project.run(&["review", "1", "--send-back"]).ok().says("executed before");
    let listed = project.run(&["review", "--all", "--json"]).ok().json();
    assert_eq!(listed[0]["end"], "landed", "{listed}");
}

#[test]
fn a_reply_that_would_be_refused_waits_for_no_review() {
    let project = Project::new();
    let id = project.begin("make a file");
    project.apply(OTHER, &["--session", &id]).ok();
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", format!("Reply-To: {id}-1\n\n{REPLY}"));
    daemon.wait_for("not executed:");
    assert_eq!(proposals(&project), 0);
    // Control: a reply to the pending message does wait.
    project.put_reply("next.txt", format!("Reply-To: {id}-2\n\n{REPLY}"));
    daemon.wait_for("waits for your review: `agentd review 1`");
    assert!(!project.has("new.txt"));
}

/// A process that waits for a review and is held back: another process owns the state folder meanwhile. Returns the session's id as well.
fn held_back() -> (Project, String, Daemon, LineClient) {
    let project = Project::new();
    let id = project.begin("make a file");
    let mut owner = LineClient::start(project.command(&["wap"]));
    owner.does("getWorkspaceInfo", serde_json::Value::Null);
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", REPLY);
    daemon.wait_for("waits for your review: `agentd review 1`");
    daemon.signal("STOP");
    (project, id, daemon, owner)
}

#[test]
fn the_process_that_waited_executes_nothing_of_a_closed_proposal() {
    let (project, _, mut daemon, mut owner) = held_back();
    let file = project.base().join("inbox/reply.txt");
    fs::remove_file(&file).unwrap();
    project.run(&["review", "1", "--send-back"]).ok().says("closed without an answer");
    // The same reply is there again before the other process learns of the end: it waits for its own review.
    project.put_reply("reply.txt", REPLY);
    daemon.signal("CONT");
    daemon.wait_for("its proposal was closed");
    daemon.wait_for("waits for your review: `agentd review 2`");
    assert!(!project.has("new.txt"));
    project.run(&["review", "2", "--land"]).ok();
    daemon.wait_for("message 2 to copy");
    assert!(project.has("new.txt"));
    owner.close_input();
}

/// A process that was held back until its session had moved on by `reply` and its proposal was closed.
fn held_back_until(reply: &str) -> (Project, Daemon, LineClient) {
    let (project, id, mut daemon, owner) = held_back();
    project.apply(reply, &["--session", &id]).ok();
    project.run(&["review", "1", "--send-back"]).ok().says("closed");
    daemon.signal("CONT");
    daemon.wait_for("not executed:");
    (project, daemon, owner)
}

#[test]
fn the_process_that_waited_continues_where_its_session_is() {
    let (project, mut daemon, mut owner) = held_back_until(OTHER);
    daemon.wait_for("message 2 to copy");
    assert!(!project.has("new.txt"));
    fs::remove_file(project.base().join("inbox/reply.txt")).unwrap();
    // The next reply is reviewed and lands.
    project.put_reply("next.txt", REPLY);
    daemon.wait_for("waits for your review: `agentd review 2`");
    project.run(&["review", "2", "--land"]).ok();
    daemon.wait_for("message 3 to copy");
    assert_eq!(project.read("new.txt"), "new\n");
    owner.close_input();
}

#[test]
fn the_process_that_waited_ends_with_its_session() {
    let (project, daemon, mut owner) = held_back_until("[DONE]\nall of it\n[/DONE]\n");
    let ran = daemon.wait().ok();
    assert!(!project.has("new.txt"), "{ran}");
    owner.close_input();
}
