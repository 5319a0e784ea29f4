//! `agentd serve` in the background, and requests to it byte by byte.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};

use crate::daemon::PATIENCE;
use crate::project::Project;

/// A running server, killed when it is dropped.
pub(crate) struct WebServer {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The head in small letters.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn has_status(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        self
    }

    /// Fails unless this is an error object with a reason.
    #[track_caller]
    pub(crate) fn fails(self, status: u16, code: &str, reason: &str) -> Value {
        let error = self.has_status(status).json();
        assert_eq!((&error["code"], &error["details"]["reason"]), (&json!(code), &json!(reason)), "{error}");
        assert!(error["error"].is_string(), "{error}");
        error
    }
}

impl WebServer {
    /// Starts a server on a free port, with its token in the project's folder.
    pub(crate) fn start(project: &Project, options: &[&str]) -> WebServer {
        let file = token_file(project);
        let mut command = project.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        command.args(options);
        if !options.contains(&"--no-token") {
            command.arg("--token-file").arg(&file);
        }
        WebServer::started(command)
    }

    pub(crate) fn started(mut command: Command) -> WebServer {
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        let listening: Value = loop {
            let read = output.read_line(&mut text).unwrap();
            assert_ne!(read, 0, "it does not serve: {text}");
            if let Ok(value) = serde_json::from_str(&text) {
                break value;
            }
        };
        let address = listening["url"].as_str().unwrap().strip_prefix("http://").unwrap().parse().unwrap();
        let token = listening["tokenFile"]
            .as_str()
            .map(|file| std::fs::read_to_string(file).unwrap().trim().to_owned());
        WebServer { child, address, token }
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The head of a request, with a token if one is needed.
    pub(crate) fn head(&self, method: &str, path: &str, more: &[&str]) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !more.iter().any(|line| line.to_ascii_lowercase().starts_with("host:")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if let Some(token) = &self.token
            && !more.iter().any(|line| line.to_ascii_lowercase().starts_with("authorization:"))
        {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for line in more.iter().filter(|line| !line.ends_with(": none")) {
            head.push_str(&format!("{line}\r\n"));
        }
        head
    }

    /// Sends a request on a connection of its own and returns the answer.
    pub(crate) fn send(&self, method: &str, path: &str, more: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let head = self.head(method, path, more);
        stream.write_all(format!("{head}{length}Connection: close\r\n\r\n").as_bytes()).unwrap();
        // A server that refuses a body does not read all of it.
        let _ = stream.write_all(body);
        read_answer(&mut BufReader::new(stream))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    /// Calls a tool.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Answer {
        self.call_as(tool, arguments, &[])
    }

    pub(crate) fn call_as(&self, tool: &str, arguments: &Value, more: &[&str]) -> Answer {
        let mut lines = vec!["Content-Type: application/json"];
        lines.extend(more);
        self.send("POST", &format!("/v1/tools/{tool}"), &lines, arguments.to_string().as_bytes())
    }

    /// The response of a tool that succeeds.
    #[track_caller]
    pub(crate) fn does(&self, tool: &str, arguments: &Value) -> Value {
        self.call(tool, arguments).has_status(200).json()
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn interrupt(&mut self) -> i32 {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn token_file(project: &Project) -> PathBuf {
    project.folder().join("token")
}

/// Reads one answer; a connection that is closed without one is the status 0.
pub(crate) fn read_answer(stream: &mut impl BufRead) -> Answer {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(0) | Err(_) => return Answer { status: 0, head, body: Vec::new() },
            Ok(_) if line == "\r\n" => break,
            Ok(_) => head.push_str(&line.to_ascii_lowercase()),
        }
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let mut body = Vec::new();
    if let Some(length) = field("content-length:") {
        body.resize(length.parse().unwrap(), 0);
        stream.read_exact(&mut body).unwrap();
    } else if field("transfer-encoding:").is_some() {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut piece = vec![0; size + 2];
            stream.read_exact(&mut piece).unwrap();
            if size == 0 {
                break;
            }
            body.extend_from_slice(&piece[..size]);
        }
    }
    Answer { status, head, body }
}

/// A short pause, for what must not happen.
pub(crate) const MOMENT: Duration = Duration::from_millis(200);
