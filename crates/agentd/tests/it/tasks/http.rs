//! Tasks over HTTP.

use serde_json::{Value, json};

use super::client::{LAYERLESS, as_task, meta, takes_tasks};
use crate::fixture::project::Project;
use crate::fixture::web_server::{Answer, WebServer};

/// Sends a message and returns the answer, and its result from whichever form it has.
fn post(server: &WebServer, more: &[&str], body: &Value) -> (Answer, Value) {
    let mut lines = vec!["Content-Type: application/json", "Accept: application/json, text/event-stream"];
    lines.extend(more);
    let answer = server.send("POST", "/mcp", &lines, body.to_string().as_bytes()).has_status(200);
    let text = answer.text();
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let message = events.chain([text.as_str()]).find_map(|text| serde_json::from_str::<Value>(text).ok());
    let message = message.unwrap_or_else(|| panic!("no message: {text}"));
    assert!(message.get("error").is_none(), "{message}");
    (answer, message["result"].clone())
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

#[test]
fn a_session_of_the_older_era_has_tasks_that_the_next_session_sees() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let session = |server: &WebServer| {
        let hello = request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
            }),
        );
        let (answer, info) = post(server, &[], &hello);
        assert!(info["capabilities"]["tasks"]["list"].is_object(), "{info}");
        let line = answer.head.lines().find(|line| line.starts_with("mcp-session-id:")).unwrap().to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let lines = [
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "Mcp-Protocol-Version: 2025-11-25",
            &line,
        ];
        server.send("POST", "/mcp", &lines, initialized.to_string().as_bytes()).has_status(202);
        line
    };
    let first = session(&server);
    let of_first = ["Mcp-Protocol-Version: 2025-11-25", first.as_str()];
    let (_, list) = post(&server, &of_first, &request("tools/list", json!({})));
    assert!(list.to_string().contains(r#""execution":{"taskSupport":"optional"}"#), "{list}");
    let (_, created) = post(&server, &of_first, &request("tools/call", as_task("echo done")));
    let id = created["task"]["taskId"].clone();
    let second = session(&server);
    let of_second = ["Mcp-Protocol-Version: 2025-11-25", second.as_str()];
    let (_, result) = post(&server, &of_second, &request("tasks/result", json!({ "taskId": id })));
    assert!(result["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{result}");
    let (_, state) = post(&server, &of_second, &request("tasks/get", json!({ "taskId": id })));
    assert_eq!(state["status"], "completed", "{state}");
}

#[test]
fn a_request_of_the_newer_era_has_tasks_without_a_session() {
    let project = Project::new();
    let server = WebServer::start(&project, &LAYERLESS);
    let of = |method: &'static str, name: &str, params: Value| {
        let (method_line, name_line) = (format!("Mcp-Method: {method}"), format!("Mcp-Name: {name}"));
        let lines = ["Mcp-Protocol-Version: 2026-07-28", &method_line, &name_line];
        let mut params = params;
        params["_meta"] = meta(&takes_tasks());
        post(&server, &lines, &request(method, params)).1
    };
    let arguments = json!({ "command": "while [ ! -e go ]; do sleep 0.05; done; echo done" });
    let created =
        of("tools/call", "executeCommand", json!({ "name": "executeCommand", "arguments": arguments }));
    assert_eq!(created["resultType"], "task", "{created}");
    let id = created["taskId"].as_str().unwrap();
    project.write("go", "");
    let ended = loop {
        let task = of("tasks/get", id, json!({ "taskId": id }));
        if task["status"] != "working" {
            break task;
        }
    };
    assert!(ended["result"]["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{ended}");
}
