//! Questions over HTTP.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;
use crate::tasks::client::meta;

const JSON: [&str; 2] = ["Content-Type: application/json", "Accept: application/json, text/event-stream"];

#[test]
fn a_request_of_the_newer_era_is_made_again_with_the_answer() {
    let project = Project::new();
    let server = WebServer::start(&project, &["--review", "--questions"]);
    let call = |more: Value| {
        let mut params = json!({
            "_meta": meta(&json!({ "elicitation": { "form": {} } })),
            "name": "executeCommand",
            "arguments": { "command": "echo ran >> ran; echo done" }
        });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let era = ["Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: executeCommand"];
        let lines = [JSON.as_slice(), &era].concat();
        let answer = server.send("POST", "/mcp", &lines, body.to_string().as_bytes()).has_status(200);
        answer.json()["result"].clone()
    };
    let form = call(json!({}));
    assert_eq!(form["resultType"], "input_required", "{form}");
    // Another connection, and another client for the server: the handle is all that names the question.
    let content = json!({ "decision": "carry out" });
    let answer = json!({
        "requestState": form["requestState"],
        "inputResponses": { "review": { "action": "accept", "content": content } }
    });
    let ran = call(answer.clone());
    assert!(ran["content"][0]["text"].as_str().unwrap().ends_with("\ndone\n"), "{ran}");
    assert_eq!(call(answer)["resultType"], "input_required");
    assert_eq!(project.read("ran"), "ran\n");
}

#[test]
fn what_has_changed_under_a_question_is_asked_anew_and_once() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &["--review", "--questions"]);
    let call = |more: Value| {
        let mut params = json!({
            "_meta": meta(&json!({ "elicitation": { "form": {} } })),
            "name": "writeFile",
            "arguments": { "path": "a.txt", "content": "two\n" }
        });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let era = ["Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: writeFile"];
        let lines = [JSON.as_slice(), &era].concat();
        server.send("POST", "/mcp", &lines, body.to_string().as_bytes()).has_status(200).json()["result"]
            .clone()
    };
    let with_consent = |form: &Value| {
        let answer = json!({ "action": "accept", "content": { "decision": "carry out" } });
        json!({ "requestState": form["requestState"], "inputResponses": { "review": answer } })
    };
    let form = call(json!({}));
    project.write("a.txt", "mine\n");
    let again = call(with_consent(&form));
    let message = &again["inputRequests"]["review"]["params"]["message"];
    assert!(message.as_str().unwrap().contains("- mine\n+ two\n"), "{again}");
    assert_eq!(project.read("a.txt"), "mine\n");
    let waiting = project.run(&["review", "--json"]).json();
    assert_eq!(waiting.as_array().map(Vec::len), Some(1), "{waiting}");
    assert_ne!(call(with_consent(&again))["isError"], true);
    assert_eq!(project.read("a.txt"), "two\n");
}

#[test]
fn a_session_of_the_older_era_is_asked_on_the_stream_of_its_call() {
    let project = Project::new();
    let server = WebServer::start(&project, &["--review", "--questions"]);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" }
    }});
    let begun = server.send("POST", "/mcp", &JSON, hello.to_string().as_bytes()).has_status(200);
    let session = begun.head.lines().find(|line| line.starts_with("mcp-session-id:")).unwrap().to_owned();
    let lines = [JSON.as_slice(), &["Mcp-Protocol-Version: 2025-11-25", session.as_str()]].concat();
    let post = |body: Value| server.send("POST", "/mcp", &lines, body.to_string().as_bytes()).has_status(202);
    post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "writeFile", "arguments": { "path": "a.txt", "content": "one\n" }
    }});
    let body = call.to_string();
    let mut stream = server.connect();
    let head = server.head("POST", "/mcp", &lines);
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let mut events = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?.trim()).ok());
    let form = events.next().unwrap();
    assert_eq!(form["method"], "elicitation/create", "{form}");
    assert!(!project.has("a.txt"));
    let content = json!({ "decision": "carry out" });
    post(json!({ "jsonrpc": "2.0", "id": form["id"], "result": { "action": "accept", "content": content } }));
    let answer = events.next().unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(2), &json!(false)), "{answer}");
    assert_eq!(project.read("a.txt"), "one\n");
}
