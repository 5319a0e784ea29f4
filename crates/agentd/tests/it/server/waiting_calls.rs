//! Calls that wait for their turn: they keep none that only read from being answered, and can be cancelled.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// Keeps all other connections from writing to the journal until it is dropped. They wait for some seconds.
fn hold_journal(base: &Path) -> Connection {
    let journal = Connection::open(base.join("journal/journal.db")).unwrap();
    journal.execute_batch("BEGIN IMMEDIATE").unwrap();
    journal
}

#[test]
fn reads_are_answered_while_many_edits_wait_and_a_waiting_edit_can_be_cancelled() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = LineClient::start(project.command(&["wap"]));
    client.does("writeFile", json!({ "path": "b.txt", "content": "b\n" }));
    let held = hold_journal(&project.base());
    let write = |number: usize| json!({ "path": format!("w{number}.txt"), "content": "w\n" });
    let ids: Vec<_> = (0..20).map(|number| client.request("writeFile", write(number))).collect();
    assert_eq!(client.does("readFile", json!({ "path": "a.txt" }))["content"], "one\n");
    client.notify("$/cancelRequest", json!({ "id": ids[19] }));
    assert_eq!(client.answer(ids[19])["error"]["code"], -32_800);
    assert!(!project.has("w0.txt"), "the journal was not held, so this shows nothing");
    drop(held);
    for id in &ids[..19] {
        assert!(client.answer(*id)["error"].is_null());
    }
    assert!(project.has("w18.txt") && !project.has("w19.txt"));
    client.end().ok();
}

#[test]
fn command_that_waits_behind_many_others_is_cancelled_at_once() {
    let project = Project::new();
    let mut client = LineClient::start(project.command(&["wap"]));
    client.does("getWorkspaceInfo", json!({}));
    let wait = json!({ "command": "sleep 600", "timeout": 900_000 });
    let ids: Vec<_> = (0..12).map(|_| client.request("executeCommand", wait.clone())).collect();
    // None of those before it has ended, nor is going to.
    client.notify("$/cancelRequest", json!({ "id": ids[11] }));
    assert_eq!(client.answer(ids[11])["error"]["code"], -32_800);
    client.notify("$/cancelRequest", json!({ "id": ids[10] }));
    assert_eq!(client.answer(ids[10])["error"]["code"], -32_800);
    for id in &ids[..10] {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in &ids[..10] {
        assert_eq!(client.answer(*id)["error"]["code"], -32_800);
    }
    client.end().ok();
}
