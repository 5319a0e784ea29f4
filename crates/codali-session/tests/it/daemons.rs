//! Answers of a docdex daemon.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use codali_envelope::{AnswerOptions, Form, ReadOptions, read_request, render_response};
use codali_session::Responder;
use docdex_client::{RemoteConfig, RemoteIndex};
use memory_workspace::{MemoryIndex, MemoryWorkspace};
use secret_placeholders::{MemoryStore, Secrets, Withheld};
use wap_core::CancelFlag;

/// Starts a daemon without data for one request; the result is the request's first line.
fn ignorant_daemon() -> (RemoteIndex, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serve = move || {
        let (mut client, _) = listener.accept().unwrap();
        let lines = BufReader::new(client.try_clone().unwrap()).lines();
        let lines: Vec<String> = lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
        let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        client.write_all(answer.as_bytes()).unwrap();
        lines[0].clone()
    };
    (RemoteIndex::new(RemoteConfig { url, ..RemoteConfig::default() }), thread::spawn(serve))
}

#[test]
fn a_warning_about_a_daemon_repeats_no_unmasked_value() {
    let secrets = Arc::new(Secrets::open(MemoryStore::default()).unwrap());
    let token = ["npm", "_", &"a1B2c3D4e5F6".repeat(3)].concat();
    let placeholder = secrets.mask(&token).into_owned();
    let text = "AGENT_REQUEST v1\nrequest_id: r1\nneeds:\n";
    let need = format!("  - type: docdex.symbols\n    file: \"{placeholder}\"\n");
    let reading = read_request(&format!("{text}{need}"), &ReadOptions::default()).unwrap();
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\n")]);
    let index = MemoryIndex::with_files([("a.txt", "one\n")]);
    let (daemon, server) = ignorant_daemon();
    let responder = Responder {
        workspace: &workspace,
        index: &index,
        daemon: Some(&daemon),
        web: false,
        secrets: Some(&secrets),
        withheld: &Withheld::default(),
        options: AnswerOptions::default(),
        impact_as_paths: false,
        command: None,
        cancel: &CancelFlag::new(),
    };
    let response = render_response(&responder.respond(&reading), Form::default());
    // The control: the daemon received the value.
    let request = server.join().unwrap();
    assert!(request.contains(&token), "{request}");
    assert!(!response.contains(&token), "{response}");
    let warning = format!("the docdex daemon gave no answer ('{placeholder}' is not in the index)");
    assert!(response.contains(&warning), "{response}");
}
