//! A connection that stays, with one call after another on it.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::fixture::web_server::{WebServer, read_answer};

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    /// `POST /v1/tools/{tool}`.
    Http,
    /// `POST /mcp`, in the era without sessions.
    Mcp,
}

pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    speech: Speech,
    /// The head of a request up to its length, without the line that says what is asked.
    head: String,
    calls: u64,
}

impl Connection {
    /// Connects to a server, with the name of the conversation.
    pub(super) fn open(server: &WebServer, speech: Speech, name: &str) -> Connection {
        let both = "Accept: application/json, text/event-stream";
        let conversation = format!("Agentd-Conversation: {name}");
        let lines = match speech {
            Speech::Http => vec!["Content-Type: application/json", &conversation],
            Speech::Mcp => vec![
                "Content-Type: application/json",
                both,
                "Mcp-Protocol-Version: 2026-07-28",
                "Mcp-Method: tools/call",
            ],
        };
        let head = server.head("POST", "/", &lines);
        let head = head.split_once("\r\n").unwrap().1.to_owned();
        Connection { stream: BufReader::new(server.connect()), speech, head, calls: 0 }
    }

    pub(super) fn speech(&self) -> Speech {
        self.speech
    }

    /// Calls a tool that has to succeed; MCP answers text for some tools, which comes as a JSON text.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.calls += 1;
        match self.speech {
            Speech::Http => self.post(&format!("/v1/tools/{tool}"), "", arguments),
            Speech::Mcp => {
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": { "name": "load", "version": "1" },
                    "io.modelcontextprotocol/clientCapabilities": {}
                });
                let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
                let message =
                    json!({ "jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params });
                let mut answer = self.post("/mcp", &format!("Mcp-Name: {tool}\r\n"), &message);
                let result = answer["result"].take();
                assert!(result["isError"] == false, "{tool} {arguments}: {answer} {result}");
                if result["structuredContent"].is_object() {
                    result["structuredContent"].clone()
                } else {
                    result["content"][0]["text"].clone()
                }
            }
        }
    }

    fn post(&mut self, path: &str, more: &str, body: &Value) -> Value {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\n{}{more}Content-Length: {}\r\n\r\n{body}",
            self.head,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let answer = read_answer(&mut self.stream);
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text());
        answer.json()
    }
}
