//! The extension of 2026-07-28.

use serde_json::{Value, json};

use super::client::{LAYERLESS, bare, meta, takes_tasks};
use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// Waits until it may end.
const WAITING: &str = "while [ ! -e go ]; do sleep 0.05; done; echo done";

#[track_caller]
fn run(client: &mut LineClient, capabilities: &Value, command: &str) -> Value {
    let arguments = json!({ "command": command });
    client.does(
        "tools/call",
        json!({ "_meta": meta(capabilities), "name": "executeCommand", "arguments": arguments }),
    )
}

#[track_caller]
fn get(client: &mut LineClient, id: &Value) -> Value {
    client.does("tasks/get", json!({ "_meta": meta(&takes_tasks()), "taskId": id }))
}

#[test]
fn a_short_command_is_answered_and_a_long_one_becomes_a_task() {
    let project = Project::new();
    let mut client = bare(&project, &LAYERLESS);
    let discovered = client.does("server/discover", json!({ "_meta": meta(&takes_tasks()) }));
    assert!(
        discovered["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object(),
        "{discovered}"
    );
    let short = run(&mut client, &takes_tasks(), "echo short");
    assert_eq!(short["resultType"], "complete", "{short}");
    assert!(short["content"][0]["text"].as_str().unwrap().ends_with("\nshort\n"), "{short}");
    let created = run(&mut client, &takes_tasks(), WAITING);
    assert_eq!(
        (&created["resultType"], &created["status"]),
        (&json!("task"), &json!("working")),
        "{created}"
    );
    assert_eq!(get(&mut client, &created["taskId"])["status"], "working");
    project.write("go", "");
    eventually("the task ends", || get(&mut client, &created["taskId"])["status"] != "working");
    let ended = get(&mut client, &created["taskId"]);
    assert_eq!(ended["status"], "completed", "{ended}");
    assert!(ended["result"]["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{ended}");
    client.end().ok();
}

#[test]
fn a_cancelled_task_says_so() {
    let project = Project::new();
    let mut client = bare(&project, &[]);
    let created = run(&mut client, &takes_tasks(), "sleep 600");
    let params = json!({ "_meta": meta(&takes_tasks()), "taskId": created["taskId"] });
    assert_eq!(client.does("tasks/cancel", params)["resultType"], "complete");
    eventually("the task ends", || get(&mut client, &created["taskId"])["status"] == "cancelled");
    client.end().ok();
}

#[test]
fn a_client_that_does_not_declare_tasks_gets_none() {
    let project = Project::new();
    project.write("go", "");
    let mut client = bare(&project, &[]);
    let ran = run(&mut client, &json!({}), WAITING);
    assert_eq!(ran["resultType"], "complete", "{ran}");
    let refused = client.ask("tasks/get", json!({ "_meta": meta(&json!({})), "taskId": "task-0" }));
    assert_eq!(refused["error"]["code"], -32_021, "{refused}");
    // What only the older era has is unknown here.
    for method in ["tasks/list", "tasks/result"] {
        let answer = client.ask(method, json!({ "_meta": meta(&takes_tasks()), "taskId": "task-0" }));
        assert_eq!(answer["error"]["code"], -32_601, "{answer}");
    }
    client.end().ok();
}

#[test]
fn a_call_that_is_cancelled_before_it_is_a_task_leaves_none() {
    let project = Project::new();
    let mut client = bare(&project, &[]);
    let arguments = json!({ "command": "sleep 600" });
    let call = client.request(
        "tools/call",
        json!({ "_meta": meta(&takes_tasks()), "name": "executeCommand", "arguments": arguments }),
    );
    client.notify("notifications/cancelled", json!({ "requestId": call }));
    // Commands have their turns: this one is answered because the other one is gone.
    let next = run(&mut client, &json!({}), "echo next");
    assert!(next["content"][0]["text"].as_str().unwrap().ends_with("\nnext\n"), "{next}");
    client.end().ok();
}
