//! Growth with the number of clients, each on a connection of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::code_folder::{CodeFolder, Shape};
use crate::curve::Curves;
use crate::line_server::{measured_program, peak_megabytes};

const CLIENTS: [u32; 3] = [1, 10, 100];

/// The calls of each client.
const CALLS: usize = 20;

/// Measures calls of so many clients at once, over HTTP.
pub(crate) fn measure(parent: &Path) {
    let code = CodeFolder::make(parent, Shape::Tree(1_000));
    let mut curves = Curves::new("growth-clients", "A call over HTTP, of clients at once", "clients");
    let (mut server, address, token) = serve(&code);
    for clients in CLIENTS {
        for (line, tool, body) in [
            ("read", "readFile", r#"{"path":"16k.txt"}"#),
            ("names", "exploreFiles", r#"{"path":"tree","pattern":"*_7_7.*"}"#),
        ] {
            let times = at_once(clients, address, &token, tool, body);
            curves.add(line, clients, times);
        }
    }
    println!("  peak memory of the server {:.1} MB", peak_megabytes(server.id()));
    let _ = server.kill();
    let _ = server.wait();
    curves.end();
}

fn serve(code: &CodeFolder) -> (Child, SocketAddr, String) {
    let mut server = Command::new(measured_program())
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
    let mut output = BufReader::new(server.stdout.take().expect("it is a pipe"));
    let listening: serde_json::Value = loop {
        assert_ne!(output.read_line(&mut text).expect("it writes text"), 0, "it does not serve");
        if let Ok(value) = serde_json::from_str(&text) {
            break value;
        }
    };
    let address = listening["url"].as_str().and_then(|url| url.strip_prefix("http://"));
    let address = address.and_then(|address| address.parse().ok()).expect("it says where");
    let token = std::fs::read_to_string(code.token_file()).expect("it was made");
    (server, address, token.trim().to_owned())
}

/// Returns the times of all calls.
fn at_once(clients: u32, address: SocketAddr, token: &str, tool: &str, body: &str) -> Vec<Duration> {
    let request = format!(
        "POST /v1/tools/{tool} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let gate = Barrier::new(clients as usize);
    thread::scope(|scope| {
        let calls = || {
            gate.wait();
            (0..CALLS).map(|_| call(address, &request)).collect::<Vec<Duration>>()
        };
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(calls)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("it does not panic")).collect()
    })
}

fn call(address: SocketAddr, request: &str) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers text");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    began.elapsed()
}
