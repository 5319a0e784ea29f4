//! Notifications about the status of tasks.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::client::{LAYERLESS, bare, begin, meta, older, takes_tasks};
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;

/// Waits until it may end.
const WAITING: &str = "while [ ! -e go ]; do sleep 0.05; done; echo done";

const UNKNOWN: &str = "task-01a213ddf31d-70069bd591344fb1a0c3d00d2d616961";

#[test]
fn the_older_era_hears_of_the_end_of_a_task() {
    let project = Project::new();
    let mut client = older(&project, &LAYERLESS);
    let id = begin(&mut client, WAITING);
    assert!(client.is_silent(), "it still runs");
    project.write("go", "");
    let ended = client.wait_for("the end", |message| message["method"] == "notifications/tasks/status");
    let task = &ended["params"];
    assert_eq!((&task["taskId"], &task["status"]), (&json!(id), &json!("completed")), "{ended}");
    assert!(task["statusMessage"].as_str().unwrap().contains("exit code 0"), "{ended}");
    assert!(client.is_silent(), "once is enough");
    client.end().ok();
}

#[test]
fn the_older_era_hears_that_a_reviewed_task_was_decided() {
    let project = Project::new();
    let mut client = older(&project, &["--review=commands"]);
    let id = begin(&mut client, "touch ran");
    project.run(&["review", "1", "--send-back"]).ok();
    let ended = client.wait_for("the end", |message| message["method"] == "notifications/tasks/status");
    assert_eq!(
        (&ended["params"]["taskId"], &ended["params"]["status"]),
        (&json!(id), &json!("failed")),
        "{ended}"
    );
    client.end().ok();
}

/// Begins a task of the newer era and returns its id.
fn begin_newer(client: &mut LineClient) -> String {
    let call = json!({
        "_meta": meta(&takes_tasks()), "name": "executeCommand", "arguments": { "command": WAITING }
    });
    client.does("tools/call", call)["taskId"].as_str().unwrap().to_owned()
}

fn listen(capabilities: &Value, ids: &[&str]) -> Value {
    json!({ "_meta": meta(capabilities), "notifications": { "taskIds": ids } })
}

fn acknowledged(client: &mut LineClient) -> Value {
    client.wait_for("the acknowledgement", |message| {
        message["method"] == "notifications/subscriptions/acknowledged"
    })
}

#[test]
fn the_newer_era_hears_of_the_tasks_that_it_names() {
    let project = Project::new();
    let mut client = bare(&project, &LAYERLESS);
    let id = begin_newer(&mut client);
    let listening =
        client.request("subscriptions/listen", listen(&takes_tasks(), &[&id, &id, UNKNOWN, "../../etc"]));
    let accepted = acknowledged(&mut client);
    assert_eq!(accepted["params"]["notifications"], json!({ "taskIds": [id] }), "{accepted}");
    let is_news = |message: &Value| message["method"] == "notifications/tasks";
    let now = client.wait_for("its state", is_news);
    assert_eq!(now["params"]["status"], "working", "{now}");
    project.write("go", "");
    let ended = client.wait_for("its end", is_news);
    let task = &ended["params"];
    assert_eq!((&task["taskId"], &task["status"]), (&json!(id), &json!("completed")), "{ended}");
    assert!(task["result"]["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{ended}");
    assert_eq!(task["_meta"]["io.modelcontextprotocol/subscriptionId"], listening, "{ended}");
    client.notify("notifications/cancelled", json!({ "_meta": meta(&json!({})), "requestId": listening }));
    client.does("tools/list", json!({ "_meta": meta(&json!({})) }));
    client.end().ok();
}

#[test]
fn a_client_that_does_not_declare_tasks_hears_of_none() {
    let project = Project::new();
    let mut client = bare(&project, &LAYERLESS);
    let id = begin_newer(&mut client);
    client.request("subscriptions/listen", listen(&json!({}), &[&id]));
    let accepted = acknowledged(&mut client);
    assert_eq!(accepted["params"]["notifications"], json!({}), "{accepted}");
    project.write("go", "");
    assert!(client.is_silent());
    client.end().ok();
}

#[test]
fn tasks_and_resources_are_heard_of_over_http() {
    let project = Project::new();
    let server = WebServer::start(&project, &LAYERLESS);
    let head = |method: &'static str| {
        vec![
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "Mcp-Protocol-Version: 2026-07-28",
            method,
        ]
    };
    let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let call = json!({
        "_meta": meta(&takes_tasks()), "name": "executeCommand", "arguments": { "command": WAITING }
    });
    let mut lines = head("Mcp-Method: tools/call");
    lines.push("Mcp-Name: executeCommand");
    let body = message("tools/call", call).to_string();
    let created = server.send("POST", "/mcp", &lines, body.as_bytes()).has_status(200).json();
    let id = created["result"]["taskId"].as_str().unwrap();
    let mut params = listen(&takes_tasks(), &[id]);
    params["notifications"]["resourceSubscriptions"] = json!(["agentd://run/1"]);
    let body = message("subscriptions/listen", params).to_string();
    let mut stream = server.connect();
    let head = server.head("POST", "/mcp", &head("Mcp-Method: subscriptions/listen"));
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let mut events = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?.trim()).ok());
    let accepted = events.next().unwrap();
    let filter = json!({ "taskIds": [id], "resourceSubscriptions": ["agentd://run/1"] });
    assert_eq!(accepted["params"]["notifications"], filter, "{accepted}");
    project.write("go", "");
    let ended = events.find(|event| event["params"]["status"] == "completed").unwrap();
    assert_eq!((&ended["method"], &ended["params"]["taskId"]), (&json!("notifications/tasks"), &json!(id)));
}
