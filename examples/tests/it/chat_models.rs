//! The agents of the loop that ask a chat server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

/// Answers one request with a status and a body; gives the head and the body of the request.
fn server(status: u16, answer: &Value) -> (String, JoinHandle<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/chat/completions", listener.local_addr().unwrap());
    let answer = answer.to_string();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while reader.read_line(&mut head).unwrap() > 2 {}
        let length = head.to_ascii_lowercase();
        let length = length.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.trim().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        write!(
            stream,
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
            answer.len()
        )
        .unwrap();
        (head, serde_json::from_slice(&body).unwrap())
    });
    (url, served)
}

fn run(command: &[&str], url: &str, message: &str) -> Output {
    let mut program = Command::new(command[0]);
    program.args(&command[1..]).env("CHAT_URL", url).env("CHAT_KEY", "secret").env("CHAT_MODEL", "small");
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        program.env_remove(name);
    }
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    child.stdin.take().unwrap().write_all(message.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_chat_server_answers_the_message() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/loops/chat.py");
    let (message, reply) = ("Session: 1\n\"quoted\" and ünïcode\n", "[DONE]\nall is \"well\"\n[/DONE]");
    for command in [&["python3", python][..], &[env!("CARGO_BIN_EXE_chat-model")]] {
        let answer = json!({ "choices": [{ "message": { "role": "assistant", "content": reply } }] });
        let (url, served) = server(200, &answer);
        let output = run(command, &url, message);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{reply}\n"));
        let (head, request) = served.join().unwrap();
        assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
        assert!(head.to_ascii_lowercase().contains("authorization: bearer secret\r\n"), "{head}");
        let messages = json!([{ "role": "user", "content": message }]);
        assert_eq!(request, json!({ "model": "small", "messages": messages }));
        // A server that refuses makes it fail, so that the loop stops and shows the reason.
        let (url, served) = server(401, &json!({ "error": "no such key" }));
        let output = run(command, &url, message);
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("401"), "{output:?}");
        served.join().unwrap();
    }
}
