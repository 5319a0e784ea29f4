//! A server of HTTP, and single calls to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::code_folder::CodeFolder;
use crate::line_server::{measured_program, peak_megabytes};

/// A running server. It ends with this value.
pub(crate) struct HttpServer {
    pub(crate) address: SocketAddr,
    process: Child,
    token: String,
}

impl HttpServer {
    /// Starts it on a folder, and waits until it listens.
    pub(crate) fn start(code: &CodeFolder) -> HttpServer {
        let mut process = Command::new(measured_program())
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--workspace"])
            .arg(code.folder())
            .arg("--base")
            .arg(code.state())
            .arg("--token-file")
            .arg(code.token_file())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is built");
        let mut text = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("it is a pipe"));
        let listening: serde_json::Value = loop {
            assert_ne!(output.read_line(&mut text).expect("it writes text"), 0, "it does not serve");
            if let Ok(value) = serde_json::from_str(&text) {
                break value;
            }
        };
        let address = listening["url"].as_str().and_then(|url| url.strip_prefix("http://"));
        let address = address.and_then(|address| address.parse().ok()).expect("it says where");
        let token = std::fs::read_to_string(code.token_file()).expect("it was made");
        HttpServer { address, process, token: token.trim().to_owned() }
    }

    /// Sends a call with this JSON over a connection, which ends with it, and returns the answer with its head; `None` if the
    /// connection fails.
    pub(crate) fn call(&self, mut stream: TcpStream, tool: &str, json: &str) -> Option<String> {
        let request = format!(
            "POST /v1/tools/{tool} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}",
            self.address,
            self.token,
            json.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    /// The most memory that it has had resident.
    pub(crate) fn peak_megabytes(&self) -> f64 {
        peak_megabytes(self.process.id())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
