//! Resources over HTTP.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::client::newer;
use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;

/// The headers of a request of the newer era.
fn head<'a>(method: &'a str, name: Option<&'a str>) -> Vec<&'a str> {
    let mut lines = vec![
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "Mcp-Protocol-Version: 2026-07-28",
        method,
    ];
    lines.extend(name);
    lines
}

fn message(method: &str, params: Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": newer(params) }).to_string().into_bytes()
}

#[test]
fn the_newer_era_reads_and_listens_over_http() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    server.does("writeFile", &json!({ "path": "a.txt", "content": "a\n" }));
    let lines = head("Mcp-Method: resources/list", None);
    let list =
        server.send("POST", "/mcp", &lines, &message("resources/list", json!({}))).has_status(200).text();
    assert!(list.contains("agentd://run/1"), "{list}");
    let lines = head("Mcp-Method: resources/read", Some("Mcp-Name: agentd://run/1"));
    let body = message("resources/read", json!({ "uri": "agentd://run/1" }));
    let read = server.send("POST", "/mcp", &lines, &body).has_status(200).text();
    assert!(read.contains("+a"), "{read}");
    // A run that comes later: its appearance is heard of.
    let uris = json!({ "notifications": { "resourceSubscriptions": ["agentd://run/2"] } });
    let body = message("subscriptions/listen", uris);
    let mut stream = server.connect();
    let length = format!("Content-Length: {}", body.len());
    let mut all = head("Mcp-Method: subscriptions/listen", None);
    all.push(&length);
    let head = server.head("POST", "/mcp", &all);
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut wait_for = |text: &str| {
        let found = lines.by_ref().map(Result::unwrap).find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("{text} never came"))
    };
    wait_for("notifications/subscriptions/acknowledged");
    server.does("writeFile", &json!({ "path": "b.txt", "content": "b\n" }));
    assert!(wait_for("notifications/resources/updated").contains("agentd://run/2"));
}
