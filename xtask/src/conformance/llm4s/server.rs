//! The built program as a server of the llm4s dialect, and a client of it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::conformance::cocode::cli::program;
use crate::conformance::fixture::Fixture;
use crate::conformance::problem::Problem;

/// The time within which an answer has to arrive; else the case fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server on the workspace of a case, killed when it is dropped.
pub(crate) struct Llm4sServer {
    child: Child,
    address: SocketAddr,
}

/// A client.
pub(crate) struct Llm4sClient(WebSocket<TcpStream>);

impl Llm4sServer {
    pub(crate) fn start(fixture: &Fixture, options: &[&str]) -> Result<Llm4sServer, Problem> {
        let mut command = Command::new(program()?);
        command.args(["serve", "--listen", "127.0.0.1:0", "--no-token", "--json", "--workspace"]);
        command.arg(fixture.workspace()).args(options);
        // Not in the folder of the case: what works there is counted.
        command
            .current_dir("/")
            .env("TMPDIR", fixture.path().join("scratch"))
            .env("HOME", fixture.path().join("home"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or_else(|| Problem::new("the server has no output"))?;
        let mut server = Llm4sServer { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        let mut said = String::new();
        for line in BufReader::new(output).lines() {
            said.push_str(&line?);
            if let Ok(listening) = serde_json::from_str::<Value>(&said) {
                let url = listening["url"].as_str().and_then(|url| url.strip_prefix("http://"));
                server.address = url.ok_or_else(|| Problem::new(format!("no address: {said}")))?.parse()?;
                return Ok(server);
            }
        }
        Err(Problem::new(format!("the server does not serve: {said}")))
    }

    pub(crate) fn connect(&self) -> Result<Llm4sClient, Problem> {
        let stream = self.stream()?;
        let connected = tungstenite::client(format!("ws://{}/ws", self.address), stream);
        let (socket, _) = connected.map_err(|error| Problem::new(format!("no WebSocket: {error}")))?;
        Ok(Llm4sClient(socket))
    }

    /// Makes a request and returns the status and the body, which has to be JSON.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Result<(u16, Value), Problem> {
        let mut stream = self.stream()?;
        let (host, length) = (self.address, body.len());
        let kind = if length > 0 { "Content-Type: application/json\r\n" } else { "" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{kind}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).unwrap_or_default().parse()?;
        Ok((status, serde_json::from_str(body)?))
    }

    fn stream(&self) -> Result<TcpStream, Problem> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

impl Drop for Llm4sServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Llm4sClient {
    pub(crate) fn send_text(&mut self, text: &str) -> Result<(), Problem> {
        Ok(self.0.send(Message::text(text))?)
    }

    /// Has a shell command run.
    pub(crate) fn execute(&mut self, id: &str, command: &Value) -> Result<(), Problem> {
        let command = json!({ "$type": "ExecuteCommandCommand", "commandId": id, "command": command });
        self.send_text(&json!({ "$type": "CommandMessage", "command": command }).to_string())
    }

    pub(crate) fn cancel(&mut self, id: &str) -> Result<(), Problem> {
        self.send_text(&json!({ "$type": "CancelCommandMessage", "commandId": id }).to_string())
    }

    /// Asks whether the server is there; whatever else arrives meanwhile fails.
    pub(crate) fn heartbeat(&mut self) -> Result<(), Problem> {
        self.send_text(r#"{"$type": "HeartbeatMessage"}"#)?;
        let answer = self.next()?;
        match answer["$type"] == "HeartbeatResponseMessage" {
            true => Ok(()),
            false => Err(Problem::new(format!("a heartbeat is answered with {answer}"))),
        }
    }

    pub(crate) fn next(&mut self) -> Result<Value, Problem> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(serde_json::from_str(text.as_str())?),
                Ok(Message::Close(frame)) => {
                    return Err(Problem::new(format!("the server has closed: {frame:?}")));
                }
                Ok(_) => {}
                // A socket with a timeout reports EINTR after the process was suspended and resumed.
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns every message until so many commands are over, and those before the answer to a heartbeat after that.
    pub(crate) fn until_completed(&mut self, commands: usize) -> Result<Vec<Value>, Problem> {
        let mut messages = Vec::new();
        let mut left = commands;
        while left > 0 {
            let message = self.next()?;
            left -= usize::from(message["$type"] == "CommandCompletedMessage");
            messages.push(message);
        }
        self.send_text(r#"{"$type": "HeartbeatMessage"}"#)?;
        loop {
            let message = self.next()?;
            if message["$type"] == "HeartbeatResponseMessage" {
                return Ok(messages);
            }
            messages.push(message);
        }
    }
}
