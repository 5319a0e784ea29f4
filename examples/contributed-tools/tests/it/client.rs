//! A client of one server, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer over HTTP: its status, the session that it names, and the messages until the stream ends, or until `enough` holds.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) messages: Vec<Value>,
}

/// Sends a message and reads what comes back, until a message has an `id` and `result` or `error`, or asks something.
pub(crate) fn post(address: SocketAddr, headers: &[(&str, &str)], message: &Value) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = message.to_string();
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let (mut session, mut is_stream) = (None, false);
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let text = line.trim_end();
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(": ").unwrap();
        match name.to_ascii_lowercase().as_str() {
            "mcp-session-id" => session = Some(value.to_owned()),
            "content-type" => is_stream = value.starts_with("text/event-stream"),
            _ => {}
        }
    }
    let mut messages = Vec::new();
    if is_stream {
        for line in reader.lines() {
            let Ok(line) = line else { break };
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let Ok(message) = serde_json::from_str::<Value>(data) else { continue };
            let is_enough = message["id"] != Value::Null;
            messages.push(message);
            if is_enough {
                break;
            }
        }
    } else {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        // A chunk has its length in front.
        messages.extend(
            text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object),
        );
    }
    Answer { status, session, messages }
}

/// A request of 2026-07-28 and its last message.
pub(crate) fn stateless(
    address: SocketAddr,
    capabilities: Value,
    method: &str,
    mut params: Value,
) -> (u16, Value) {
    let version = "2026-07-28";
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let name = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut headers = vec![("MCP-Protocol-Version", version), ("Mcp-Method", method)];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name.as_str()));
    }
    let answer = post(address, &headers, &message);
    (answer.status, answer.messages.last().cloned().unwrap_or_default())
}
