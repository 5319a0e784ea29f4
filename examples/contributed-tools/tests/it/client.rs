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

/// Sends a message and reads the answers, until a message has an `id` and `result` or `error`, or asks something.
pub(crate) fn post(address: SocketAddr, headers: &[(&str, &str)], message: &Value) -> Answer {
    let mut stream = Stream::open(address, "POST", headers, &message.to_string());
    let mut messages = Vec::new();
    if stream.is_events {
        while let Some(message) = stream.next() {
            let is_enough = message["id"] != Value::Null;
            messages.push(message);
            if is_enough {
                break;
            }
        }
    } else {
        let mut text = String::new();
        stream.reader.read_to_string(&mut text).unwrap();
        // A chunk has its length in front.
        messages.extend(
            text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).filter(Value::is_object),
        );
    }
    Answer { status: stream.status, session: stream.session, messages }
}

/// The stream of messages that answers a request over HTTP.
pub(crate) struct Stream {
    pub(crate) status: u16,
    session: Option<String>,
    is_events: bool,
    reader: BufReader<TcpStream>,
}

impl Stream {
    /// Sends a request and reads the head of its answer.
    pub(crate) fn open(address: SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> Stream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n",
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
        let (mut session, mut is_events) = (None, false);
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
                "content-type" => is_events = value.starts_with("text/event-stream"),
                _ => {}
            }
        }
        Stream { status, session, is_events, reader }
    }

    /// Waits for the next message of a stream of events; `None` after its end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        while self.reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            if let Some(data) = line.strip_prefix("data: ")
                && let Ok(message) = serde_json::from_str(data)
            {
                return Some(message);
            }
            line.clear();
        }
        None
    }
}

/// A request of 2026-07-28 and its last message.
pub(crate) fn stateless(
    address: SocketAddr,
    capabilities: Value,
    method: &str,
    params: Value,
) -> (u16, Value) {
    let (headers, message) = stateless_request(capabilities, method, params);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = post(address, &headers, &message);
    (answer.status, answer.messages.last().cloned().unwrap_or_default())
}

/// Returns the headers and the text of a request of 2026-07-28. What `params` has as `_meta` is kept.
pub(crate) fn stateless_request(
    capabilities: Value,
    method: &str,
    mut params: Value,
) -> (Vec<(&'static str, String)>, Value) {
    let version = "2026-07-28";
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut headers = vec![("MCP-Protocol-Version", version.to_owned()), ("Mcp-Method", method.to_owned())];
    headers.extend(name.map(|name| ("Mcp-Name", name)));
    (headers, message)
}
