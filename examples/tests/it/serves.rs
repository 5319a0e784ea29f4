//! The example servers answer their clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that ends with its test.
struct Server(Child);

impl Server {
    fn start(program: &str) -> Server {
        let child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Server(child.expect("the example is built"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_mcp_client_reads_and_edits_a_workspace_in_memory() {
    let mut server = Server::start(env!("CARGO_BIN_EXE_serve-mcp"));
    let mut input = server.0.stdin.take().unwrap();
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let mut ask = |message: serde_json::Value| -> serde_json::Value {
        writeln!(input, "{message}").unwrap();
        match message.get("id") {
            Some(_) => serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap(),
            None => serde_json::Value::Null,
        }
    };
    let hello = ask(serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    }}));
    assert_eq!(hello["result"]["serverInfo"]["name"], "serve-mcp");
    ask(serde_json::json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut call = |id: u32, name: &str, arguments: serde_json::Value| {
        let params = serde_json::json!({ "name": name, "arguments": arguments });
        ask(serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    };
    let edit =
        serde_json::json!({ "type": "replace", "startLine": 1, "endLine": 1, "newContent": "Hello, Ada!" });
    let edit = serde_json::json!({ "path": "hello.txt", "operations": [edit] });
    assert_eq!(call(2, "modifyFile", edit)["result"]["isError"], serde_json::json!(false));
    let read = call(3, "readFile", serde_json::json!({ "path": "hello.txt" }));
    let text = read["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("Hello, Ada!"), "{read}");
    // A tool that is not listed has to be refused.
    assert!(call(4, "undo", serde_json::json!({}))["error"].is_object());
}

#[test]
fn an_http_client_reads_a_workspace_in_memory() {
    let mut server = Server::start(env!("CARGO_BIN_EXE_serve-http"));
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    let ask = |host: &str| {
        let body = r#"{"path":"hello.txt"}"#;
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /v1/tools/readFile HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask(address);
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("Hello!"), "{answer}");
    let refusal = ask("rebound.example");
    assert!(refusal.starts_with("HTTP/1.1 403 ") && !refusal.contains("Hello!"), "{refusal}");
}
