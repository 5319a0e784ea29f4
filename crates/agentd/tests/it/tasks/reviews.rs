//! Tasks whose commands a person reviews first.

use serde_json::json;

use super::client::{begin, older, result, state};
use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

fn proposal(project: &Project) {
    eventually("the proposal waits", || {
        project.run(&["review", "--json"]).json().as_array().is_some_and(|all| all.len() == 1)
    });
}

#[track_caller]
fn waits(client: &mut LineClient, id: &str) {
    let working = state(client, id);
    assert_eq!(working["status"], "working", "{working}");
    assert!(working["statusMessage"].as_str().unwrap().contains("`agentd review 1`"), "{working}");
}

#[test]
fn a_task_waits_for_its_review_and_survives_every_process() {
    let project = Project::new();
    let mut client = older(&project, &["--review=commands"]);
    let id = begin(&mut client, "echo ran > ran");
    proposal(&project);
    waits(&mut client, &id);
    // A proposal is in the journal: not even the owner has to live.
    client.kill();
    let mut next = older(&project, &["--review=commands"]);
    waits(&mut next, &id);
    assert!(!project.has("ran"));
    project.run(&["review", "1", "--try"]).ok();
    project.run(&["review", "1", "--land"]).ok();
    let (text, is_error) = result(&mut next, &id);
    assert!(!is_error && text.starts_with("exit code 0 "), "{text}");
    assert_eq!(project.read("ran"), "ran\n");
    next.end().ok();
}

#[test]
fn a_task_that_is_sent_back_or_cancelled_does_not_run() {
    let project = Project::new();
    let mut client = older(&project, &["--review=commands"]);
    let id = begin(&mut client, "touch ran");
    proposal(&project);
    project.run(&["review", "1", "--send-back", "--say", "Not now."]).ok();
    let (text, is_error) = result(&mut client, &id);
    assert!(is_error && text.contains("LEFT_OUT") && text.contains("Not now."), "{text}");
    let id = begin(&mut client, "touch ran");
    proposal(&project);
    assert_eq!(client.does("tasks/cancel", json!({ "taskId": id }))["status"], "cancelled");
    assert_eq!(project.run(&["review", "--json"]).json().as_array().map(Vec::len), Some(0));
    assert!(!project.has("ran"));
    client.end().ok();
}

#[test]
fn the_outcome_of_a_reviewed_task_outlasts_its_proposal() {
    let project = Project::new();
    let mut client = older(&project, &["--review=commands"]);
    let first = begin(&mut client, "touch ran");
    proposal(&project);
    // No client asks for its outcome before the queue has forgotten the proposal.
    project.run(&["review", "1", "--send-back", "--say", "Not now."]).ok();
    for _ in 0..205 {
        let id = begin(&mut client, "touch ran");
        assert_eq!(client.does("tasks/cancel", json!({ "taskId": id }))["status"], "cancelled");
    }
    let forgotten = client.ask("resources/read", json!({ "uri": "agentd://review/1" }));
    assert_eq!(forgotten["error"]["code"], -32_002, "{forgotten}");
    let (text, is_error) = result(&mut client, &first);
    assert!(is_error && text.contains("LEFT_OUT") && text.contains("Not now."), "{text}");
    assert!(!project.has("ran"));
    client.end().ok();
}
