//! Programs that use one server without sessions do not meet each other's processes.

use serde_json::{Value, json};

use super::client::newer;
use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;

/// A program that uses the server.
struct Program<'a> {
    server: &'a WebServer,
    name: &'static str,
    conversation: Option<&'static str>,
}

impl Program<'_> {
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let mut params = newer(json!({ "name": tool, "arguments": arguments }));
        params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = json!(self.name);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let tool_line = format!("Mcp-Name: {tool}");
        let conversation = self.conversation.map(|name| format!("Agentd-Conversation: {name}"));
        let mut lines = vec![
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "Mcp-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            &tool_line,
        ];
        lines.extend(conversation.as_deref());
        let answer = self.server.send("POST", "/mcp", &lines, body.to_string().as_bytes());
        answer.has_status(200).json()["result"].clone()
    }

    fn begin(&self, word: &str) {
        let command = format!("echo {word}; sleep 600");
        let arguments = json!({ "command": command, "background": "web", "ready": word });
        assert_ne!(self.call("executeCommand", arguments)["isError"], true);
    }

    fn output(&self) -> String {
        self.call("readFile", json!({ "path": "@process/web" }))["content"][0]["text"].to_string()
    }
}

#[test]
fn programs_that_choose_the_same_name_read_their_own_process() {
    let project = Project::new();
    let server = &WebServer::start(&project, &[]);
    let first = Program { server, name: "first", conversation: None };
    let second = Program { server, name: "second", conversation: None };
    first.begin("mine");
    assert!(second.output().contains("FILE_NOT_FOUND"), "{}", second.output());
    assert_eq!(second.call("stopProcess", json!({ "name": "web" }))["isError"], true);
    second.begin("other");
    assert!(first.output().contains("mine") && !first.output().contains("other"));
    assert!(second.output().contains("other") && !second.output().contains("mine"));
}

#[test]
fn the_header_separates_two_of_one_program() {
    let project = Project::new();
    let server = &WebServer::start(&project, &[]);
    let one = Program { server, name: "same", conversation: Some("one") };
    let two = Program { server, name: "same", conversation: Some("two") };
    one.begin("mine");
    assert!(two.output().contains("FILE_NOT_FOUND"), "{}", two.output());
    // The control: the next request of the same client knows its process.
    assert!(one.output().contains("mine"));
}
