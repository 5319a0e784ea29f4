//! A client of the llm4s dialect over a WebSocket.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::protocol::frame::CloseFrame;
use tungstenite::{ClientRequestBuilder, Message, WebSocket};

use crate::daemon::PATIENCE;
use crate::web_server::WebServer;

/// An open WebSocket.
pub(crate) struct SocketClient {
    pub(crate) socket: WebSocket<TcpStream>,
}

impl SocketClient {
    pub(crate) fn connect(server: &WebServer) -> SocketClient {
        SocketClient::try_connect(server, "/ws", server.token.as_deref(), &[]).unwrap()
    }

    /// Connects with this token and these headers; the status of a refusal is the error.
    pub(crate) fn try_connect(
        server: &WebServer,
        path: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
    ) -> Result<SocketClient, u16> {
        let uri = format!("ws://{}{path}", server.address).parse().unwrap();
        let mut request = ClientRequestBuilder::new(uri);
        if let Some(token) = token {
            request = request.with_header("Authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.with_header(*name, *value);
        }
        match tungstenite::client(request, server.connect()) {
            Ok((socket, _)) => Ok(SocketClient { socket }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Sends a command; its type and its id are added.
    pub(crate) fn command(&mut self, name: &str, id: &str, fields: Value) {
        let mut command = fields;
        command["$type"] = format!("{name}Command").into();
        command["commandId"] = id.into();
        self.send(&json!({ "$type": "CommandMessage", "command": command }));
    }

    pub(crate) fn execute(&mut self, id: &str, command: &str) {
        self.command("ExecuteCommand", id, json!({ "command": command }));
    }

    pub(crate) fn cancel(&mut self, id: &str) {
        self.send(&json!({ "$type": "CancelCommandMessage", "commandId": id }));
    }

    /// Returns the next message.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        match self.next_frame() {
            Ok(text) => serde_json::from_str(&text).unwrap(),
            Err(close) => panic!("the connection is closed: {close:?}"),
        }
    }

    /// Returns the next text, or how the server has ended the connection.
    pub(crate) fn next_frame(&mut self) -> Result<String, Option<CloseFrame>> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Ok(text.to_string()),
                Ok(Message::Close(frame)) => return Err(frame),
                Ok(_) => {}
                // A socket with a time limit says so after the process was stopped and goes on.
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(None),
            }
        }
    }

    /// The response to a command that has one and nothing else.
    #[track_caller]
    pub(crate) fn does(&mut self, name: &str, fields: Value) -> Value {
        self.command(name, "does", fields);
        let message = self.next();
        assert_eq!(message["$type"], "ResponseMessage", "{message}");
        assert_eq!(message["response"]["commandId"], "does", "{message}");
        message["response"].clone()
    }

    /// Every message up to the one that says that a command is over, that one included.
    #[track_caller]
    pub(crate) fn until_completed(&mut self, id: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let message = self.next();
            let is_last = message["$type"] == "CommandCompletedMessage" && message["commandId"] == id;
            messages.push(message);
            if is_last {
                return messages;
            }
        }
    }

    /// Waits for the next message of a type and returns it with those before it.
    #[track_caller]
    pub(crate) fn until(&mut self, name: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            messages.push(self.next());
            if messages.last().unwrap()["$type"] == name {
                return messages;
            }
        }
    }
}

/// Messages by their types, streamed pieces that follow each other as one.
pub(crate) fn outline(messages: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> = messages.iter().map(|message| message["$type"].as_str().unwrap()).collect();
    names.dedup();
    names
}

/// What was streamed of one output.
pub(crate) fn streamed(messages: &[Value], output: &str) -> String {
    let pieces = messages.iter().filter(|message| message["outputType"] == output);
    pieces.map(|message| message["content"].as_str().unwrap()).collect()
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
