//! Calls of clients that wait for a review.

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

const FILE: &str = "one\ntwo\nthree\nfour\nfive\n";

fn project() -> Project {
    let project = Project::new();
    project.write("a.txt", FILE);
    project
}

fn edit() -> Value {
    let replace = |line: u32, text: &str| json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": text });
    json!({ "path": "a.txt", "operations": [replace(1, "ONE"), replace(5, "FIVE")] })
}

/// Waits until this many proposals wait.
fn wait_for_proposals(project: &Project, count: usize) {
    eventually("the proposal waits", || {
        project.run(&["review", "--json"]).json().as_array().is_some_and(|all| all.len() == count)
    });
}

#[test]
fn half_of_an_edit_lands_and_the_client_reads_both_comments() {
    let project = project();
    let mut client = LineClient::start(project.command(&["wap", "--review"]));
    let call = client.request("modifyFile", edit());
    wait_for_proposals(&project, 1);
    assert_eq!(project.read("a.txt"), FILE, "nothing is done before it is reviewed");
    let land = [
        "review",
        "1",
        "--land",
        "--leave-out",
        "1:2",
        "--comment",
        "1:5=Five stays.",
        "--comment",
        "1=Half is enough.",
    ];
    project.run(&land).ok();
    let answer = client.answer(call);
    let warnings = answer["result"]["warnings"].to_string();
    for said in ["carried out a part of it", "line 5", "> FIVE", "Five stays.", "Half is enough."] {
        assert!(warnings.contains(said), "no '{said}' in {answer}");
    }
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    client.close_input();
    client.end().ok();
}

#[test]
fn a_command_that_is_sent_back_does_not_run_and_says_why() {
    let project = project();
    let mut client = LineClient::start(project.command(&["wap", "--review=commands"]));
    // The control: edits are not under review here.
    client.does("modifyFile", edit());
    let call = client.request("executeCommand", json!({ "command": "touch ran" }));
    wait_for_proposals(&project, 1);
    project.run(&["review", "1", "--send-back", "--say", "No commands, please."]).ok();
    let answer = client.answer(call);
    assert_eq!(answer["error"]["data"]["details"]["reason"], "LEFT_OUT", "{answer}");
    assert!(answer.to_string().contains("No commands, please."), "{answer}");
    assert!(!project.has("ran"));
    client.close_input();
    client.end().ok();
}

#[test]
fn a_call_whose_client_is_impatient_may_ask_and_waits_on_when_it_is_made_again() {
    let project = project();
    let mut client = LineClient::start(project.command(&["wap", "--review"]));
    let call = client.request("modifyFile", edit());
    wait_for_proposals(&project, 1);
    client.notify("$/cancelRequest", json!({ "id": call }));
    let cancelled = client.answer(call);
    assert!(cancelled.to_string().contains("proposal 1 still waits"), "{cancelled}");
    // The same call waits for the same proposal.
    let again = client.request("modifyFile", edit());
    project.run(&["review", "1", "--land"]).ok();
    let answer = client.answer(again);
    assert_eq!(answer["result"]["success"], true, "{answer}");
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(project.run(&["review", "--all", "--json"]).json().as_array().map(Vec::len), Some(1));
    // Once it is answered, the same call is a new one.
    client.request("modifyFile", edit());
    wait_for_proposals(&project, 1);
    assert_eq!(project.run(&["review", "--json"]).json()[0]["id"], 2);
    client.close_input();
    client.end().ok();
}

#[test]
fn reading_is_never_reviewed() {
    let project = project();
    let mut client = LineClient::start(project.command(&["wap", "--review"]));
    let read = client.does("readFile", json!({ "path": "a.txt" }));
    assert_eq!(read["content"], FILE);
    client.close_input();
    client.end().ok();
}
