//! Clients of 2025-11-25, whose requests are asked about while they wait.

use contributed_tools::ExampleServer;
use serde_json::{Value, json};

use crate::client::{Stream, post};

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

/// Makes a request of a session, and returns the messages of its stream.
fn ask(server: &ExampleServer, session: &str, method: &str, params: Value) -> Vec<Value> {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    post(server.address(), &[("Mcp-Session-Id", session)], &message).messages
}

/// Calls the tool that logs, and returns the levels of the messages before its answer.
fn logged(server: &ExampleServer, session: &str) -> Vec<Value> {
    let mut messages = ask(server, session, "tools/call", json!({ "name": "test_logging_tool" }));
    let answer = messages.pop().unwrap();
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert!(messages.iter().all(|message| message["method"] == "notifications/message"), "{messages:?}");
    messages.iter().map(|message| message["params"]["level"].clone()).collect()
}

#[test]
fn log_messages_come_on_the_stream_of_their_call_from_the_level_of_the_session_on() {
    let server = ExampleServer::start().unwrap();
    let (one, other) = (begin(&server, json!({})), begin(&server, json!({})));
    let choose = |session: &str, level: &str| {
        let answer = ask(&server, session, "logging/setLevel", json!({ "level": level }));
        answer.last().cloned().unwrap()
    };
    assert_eq!(choose(&one, "debug")["result"], json!({}));
    assert_eq!(choose(&other, "error")["result"], json!({}));
    assert_eq!(choose(&other, "loud")["error"]["code"], -32602);
    for _ in 0..3 {
        assert_eq!(logged(&server, &one), ["debug", "warning", "error"]);
        assert_eq!(logged(&server, &other), ["error"]);
    }
}

#[test]
fn a_followed_resource_is_notified_on_the_stream_of_its_session() {
    let server = ExampleServer::start().unwrap();
    let session = begin(&server, json!({}));
    let watched = json!({ "uri": "test://watched-resource" });
    let subscribe = |method: &str, params: &Value| {
        let answer = ask(&server, &session, method, params.clone());
        answer.last().cloned().unwrap()
    };
    for constant in ["test://static-text", "test://nothing"] {
        let refused = subscribe("resources/subscribe", &json!({ "uri": constant }));
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    assert_eq!(subscribe("resources/subscribe", &watched)["result"], json!({}));
    let mut stream = Stream::open(server.address(), "GET", &[("Mcp-Session-Id", &session)], "");
    assert_eq!(stream.status, 200);
    // Another client changes it.
    let other = begin(&server, json!({}));
    for version in 1..3 {
        ask(&server, &other, "tools/call", json!({ "name": "test_change_watched_resource" }));
        let updated = stream.next().unwrap();
        assert_eq!(updated["method"], "notifications/resources/updated", "{updated}");
        assert_eq!(updated["params"], watched);
        let read = ask(&server, &session, "resources/read", watched.clone());
        let text = read.last().unwrap()["result"]["contents"][0]["text"].clone();
        assert_eq!(text, format!("This is version {version} of the watched resource."));
    }
}
