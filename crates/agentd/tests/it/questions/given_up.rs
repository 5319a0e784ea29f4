//! Calls that are given up after their person has allowed a command.

use std::fs;
use std::process;

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::tasks::client::{bare, meta, older_with};

const REVIEW: [&str; 2] = ["--review", "--questions"];

/// A command that runs for long under a unique name.
fn long(name: u32) -> String {
    format!("sleep 6{name}.{}", process::id())
}

/// Reports whether a program runs with these words.
fn runs(command: &str) -> bool {
    let words: Vec<u8> = command.bytes().map(|byte| if byte == b' ' { 0 } else { byte }).collect();
    let processes = fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let of = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
    processes.map(of).any(|line| line.starts_with(&words) && line.len() == words.len() + 1)
}

fn answer() -> Value {
    json!({ "action": "accept", "content": { "decision": "carry out" } })
}

/// Nothing of the proposal has landed, and it waits on.
#[track_caller]
fn still_waits(project: &Project) {
    eventually("the proposal waits on", || {
        let review = project.run(&["review", "--json"]).json();
        review.as_array().is_some_and(|all| all.len() == 1)
    });
    assert!(!project.has("ran"));
}

#[test]
fn giving_up_the_call_ends_the_command_that_was_allowed() {
    let project = Project::new();
    let (mut client, _) = older_with(&project, &REVIEW, json!({ "elicitation": {} }));
    let command = long(1);
    let arguments = json!({ "command": format!("touch ran; {command}") });
    let call = client.request("tools/call", json!({ "name": "executeCommand", "arguments": arguments }));
    let form = client.wait_for("a question", |message| message["method"] == "elicitation/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": answer() }));
    eventually("the command runs", || runs(&command));
    // The control: another call that is given up ends nothing of this one.
    let other = client.request("tools/call", json!({ "name": "exploreFiles", "arguments": { "path": "." } }));
    client.notify("notifications/cancelled", json!({ "requestId": other }));
    client.does("tools/list", json!({}));
    assert!(runs(&command));
    client.notify("notifications/cancelled", json!({ "requestId": call }));
    eventually("the command has ended", || !runs(&command));
    still_waits(&project);
    client.end().ok();
}

#[test]
fn giving_up_the_call_with_the_answer_ends_the_command() {
    let project = Project::new();
    let mut client = bare(&project, &REVIEW);
    let command = long(2);
    let mut call = json!({
        "_meta": meta(&json!({ "elicitation": { "form": {} } })),
        "name": "executeCommand",
        "arguments": { "command": format!("touch ran; {command}") }
    });
    let question = client.does("tools/call", call.clone());
    call["requestState"] = question["requestState"].clone();
    call["inputResponses"] = json!({ "review": answer() });
    let answered = client.request("tools/call", call);
    eventually("the command runs", || runs(&command));
    give_up(&mut client, answered);
    eventually("the command has ended", || !runs(&command));
    still_waits(&project);
    client.end().ok();
}

fn give_up(client: &mut LineClient, call: u64) {
    client.notify("notifications/cancelled", json!({ "_meta": meta(&json!({})), "requestId": call }));
}
