//! MCP clients of both eras on standard input and output.

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// Has commands run on the folder itself, so that they see at once what a test writes, and the test what they write.
pub(crate) const LAYERLESS: [&str; 2] = ["--layer", "off"];

/// Starts a server with a client of the older era.
pub(crate) fn older(project: &Project, options: &[&str]) -> LineClient {
    let (client, _) = older_with(project, options, json!({}));
    client
}

/// The same with capabilities of the client; returns the answer to the handshake, too.
pub(crate) fn older_with(project: &Project, options: &[&str], capabilities: Value) -> (LineClient, Value) {
    let mut client = bare(project, options);
    let info = client.does(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" }
        }),
    );
    client.notify("notifications/initialized", json!({}));
    (client, info)
}

/// Starts a server without saying anything to it.
pub(crate) fn bare(project: &Project, options: &[&str]) -> LineClient {
    let mut arguments = vec!["mcp"];
    arguments.extend(options);
    LineClient::start(project.command(&arguments))
}

/// The metadata of a request of the newer era.
pub(crate) fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities
    })
}

/// The capabilities of a client of the newer era that takes tasks.
pub(crate) fn takes_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

/// The call of a command as a task of the older era.
pub(crate) fn as_task(command: &str) -> Value {
    json!({ "name": "executeCommand", "arguments": { "command": command }, "task": { "ttl": 60_000 } })
}

/// Begins a task of the older era and returns its id.
#[track_caller]
pub(crate) fn begin(client: &mut LineClient, command: &str) -> String {
    let created = client.does("tools/call", as_task(command));
    assert_eq!(created["task"]["status"], "working", "{created}");
    created["task"]["taskId"].as_str().unwrap().to_owned()
}

/// The state of a task in the older era.
#[track_caller]
pub(crate) fn state(client: &mut LineClient, id: &str) -> Value {
    client.does("tasks/get", json!({ "taskId": id }))
}

/// The text of a task's result in the older era, and whether it is an error.
#[track_caller]
pub(crate) fn result(client: &mut LineClient, id: &str) -> (String, bool) {
    let result = client.does("tasks/result", json!({ "taskId": id }));
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (text, result["isError"] == true)
}
