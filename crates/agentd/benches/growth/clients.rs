//! Growth with the number of clients, each on its own connection.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::code_folder::{CodeFolder, Shape};
use crate::curve::Curves;
use crate::http_server::HttpServer;

const CLIENTS: [u32; 3] = [1, 10, 100];

/// The calls of each client.
const CALLS: usize = 20;

/// Measures calls of this many clients at once, over HTTP.
pub(crate) fn measure(parent: &Path) {
    let code = CodeFolder::make(parent, Shape::Tree(1_000));
    let mut curves = Curves::new("growth-clients", "A call over HTTP, of clients at once", "clients");
    let server = HttpServer::start(&code);
    for clients in CLIENTS {
        for (line, tool, json) in [
            ("read", "readFile", r#"{"path":"16k.txt"}"#),
            ("names", "exploreFiles", r#"{"path":"tree","pattern":"*_7_7.*"}"#),
        ] {
            curves.add(line, clients, at_once(clients, &server, tool, json));
        }
    }
    println!("  peak memory of the server {:.1} MB", server.peak_megabytes());
    curves.end();
}

/// Returns the times of all calls.
fn at_once(clients: u32, server: &HttpServer, tool: &str, json: &str) -> Vec<Duration> {
    let gate = Barrier::new(clients as usize);
    thread::scope(|scope| {
        let calls = || {
            gate.wait();
            (0..CALLS).map(|_| call(server, tool, json)).collect::<Vec<Duration>>()
        };
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(calls)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("it does not panic")).collect()
    })
}

fn call(server: &HttpServer, tool: &str, json: &str) -> Duration {
    let began = Instant::now();
    let stream = TcpStream::connect(server.address).expect("it listens");
    let answer = server.call(stream, tool, json).expect("it answers text");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    began.elapsed()
}
