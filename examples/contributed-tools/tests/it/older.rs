//! Clients of 2025-11-25, whose requests are asked about while they wait.

use contributed_tools::ExampleServer;
use serde_json::{Value, json};

use crate::client::post;

/// Begins a session and returns its name.
fn begin(server: &ExampleServer, capabilities: Value) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let session = post(server.address(), &[], &hello).session.unwrap();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(server.address(), &[("Mcp-Session-Id", &session)], &ready).status, 202);
    session
}

fn call(name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "p" } });
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
}

#[test]
fn reports_of_progress_come_before_the_answer() {
    let server = ExampleServer::start().unwrap();
    let session = begin(&server, json!({}));
    let answer =
        post(server.address(), &[("Mcp-Session-Id", &session)], &call("test_tool_with_progress", json!({})));
    let progress: Vec<_> =
        answer.messages.iter().map(|message| message["params"]["progress"].clone()).collect();
    assert_eq!(progress, [json!(0.0), json!(50.0), json!(100.0), Value::Null], "{:?}", answer.messages);
}

#[test]
fn the_person_is_asked_while_the_call_waits() {
    let server = ExampleServer::start().unwrap();
    let session = begin(&server, json!({ "elicitation": {} }));
    let headers = [("Mcp-Session-Id", session.as_str())];
    let address = server.address();
    let answer = post(address, &headers, &call("test_elicitation", json!({ "message": "Who are you?" })));
    let question = answer.messages.last().unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["message"], "Who are you?");
}

#[test]
fn a_client_without_forms_is_refused_what_would_ask() {
    let server = ExampleServer::start().unwrap();
    let session = begin(&server, json!({}));
    let headers = [("Mcp-Session-Id", session.as_str())];
    let refused =
        post(server.address(), &headers, &call("test_elicitation", json!({ "message": "Who are you?" })));
    let refused = refused.messages.last().unwrap();
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let plain = post(server.address(), &headers, &call("test_simple_text", json!({})));
    assert!(plain.messages.last().unwrap()["result"]["content"].is_array());
}
