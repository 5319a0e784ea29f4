//! Every tool over every transport, and every reader of a text, with hostile sizes and shapes, in processes of little memory.
//!
//! `HOSTILE_SECONDS` has each test go through its cases again until this many seconds are over, with the cases and sizes of a long
//! run if that is long enough for a round of these.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::Message;

use crate::fixture::daemon::PATIENCE;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, Ran};
use crate::fixture::socket_client::SocketClient;
use crate::fixture::web_server::WebServer;
use crate::hostile_table::{HostileCase, HostileText, hostile_cases, hostile_texts};

/// The most memory of the process for data, in KiB: 256 MB.
const MEMORY_KIB: u64 = 256 * 1024;

/// The longest answer: 100 matches with 20 lines around them on both sides, of 1,000 characters that each take six bytes.
const MOST_ANSWER_BYTES: usize = 32 << 20;

/// The most that a program prints which reads one text: results of 20,000 blocks, or an envelope as far as its budget goes.
const MOST_PRINTED_BYTES: usize = 64 << 20;

/// The program with these arguments on a project, with this much memory.
fn limited(project: &Project, arguments: &[&str], memory_kib: u64) -> Command {
    let plain = project.command(arguments);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -d {memory_kib} && exec \"$@\""), "sh"]);
    limited.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(project.workspace()).stderr(Stdio::piped());
    limited
}

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn seconds() -> u64 {
    std::env::var("HOSTILE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Calls `round` once, and again until the time of a long run is over.
fn rounds(mut round: impl FnMut()) {
    let end = Instant::now() + Duration::from_secs(seconds());
    loop {
        round();
        if Instant::now() >= end {
            return;
        }
    }
}

/// A round of all cases in their whole size takes about as long without optimization.
const LONG_ROUND_SECONDS: u64 = 400;

fn is_long_run() -> bool {
    std::env::var_os("SOAK_FACTOR").is_some() || seconds() >= LONG_ROUND_SECONDS
}

/// Leaves out the cases that take long, except in a long run.
fn without_long(cases: Vec<HostileCase>) -> Vec<HostileCase> {
    cases.into_iter().filter(|case| is_long_run() || !case.is_long).collect()
}

/// Also leaves out the cases whose tool takes long whatever the transport, except in a long run.
fn without_slow(cases: Vec<HostileCase>) -> Vec<HostileCase> {
    without_long(cases).into_iter().filter(|case| is_long_run() || !case.is_slow).collect()
}

fn project() -> (Project, Vec<HostileCase>) {
    let (files, cases) = hostile_cases(&repository());
    let project = Project::new();
    for file in files {
        project.write(&file.path, &file.content);
    }
    (project, cases)
}

/// The longest refusal, which may quote what it is about.
const MOST_REFUSAL_BYTES: usize = 64 << 10;

/// Sends one case and looks at its answer, which must come in time. Answers with what is wrong with it, if anything is: it
/// has to be bounded, and what the table says.
fn ask(client: &mut LineClient, case: &HostileCase) -> Option<String> {
    client.send_bytes(case.line.as_bytes());
    client.send_bytes(b"\n");
    let answer = client.wait_for(&case.name, |message| message["id"] == 1 || message["id"].is_null());
    let length = answer.to_string().len();
    let excerpt: String = answer.to_string().chars().take(600).collect();
    let error = answer.get("error");
    let reason = error.and_then(|error| error["data"]["details"]["reason"].as_str());
    let is_expected = match case.expected.as_deref() {
        None => true,
        Some("ok") => error.is_none(),
        Some("refused") => error.is_some(),
        Some(expected) => reason == Some(expected),
    };
    let most = if error.is_some() { MOST_REFUSAL_BYTES } else { MOST_ANSWER_BYTES };
    let is_right = is_expected && length <= most;
    (!is_right).then(|| format!("{}: wanted {:?}, {length} bytes: {excerpt}", case.name, case.expected))
}

#[test]
fn no_request_takes_much_memory_or_for_ever_and_the_next_one_is_answered() {
    rounds(|| {
        // Anew each time, because the cases build on each other.
        let (project, cases) = project();
        let cases = without_long(cases);
        let mut client = LineClient::start(limited(&project, &["wap"], MEMORY_KIB));
        let mut wrong = Vec::new();
        for case in &cases {
            wrong.extend(ask(&mut client, case));
            let small = client.request("getWorkspaceInfo", Value::Null);
            assert!(client.answer(small)["result"]["limits"].is_object(), "after {}", case.name);
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
        client.does("writeFile", json!({ "path": "after.txt", "content": "x" }));
        assert_eq!(project.read("after.txt"), "x");
    });
}

#[test]
fn no_request_of_an_mcp_client_takes_much_memory_or_for_ever() {
    rounds(|| {
        let (project, cases) = project();
        let mut client = LineClient::start(limited(&project, &["mcp"], MEMORY_KIB));
        let about = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        client.does("initialize", hello);
        client.notify("notifications/initialized", json!({}));
        for case in without_slow(cases) {
            let Some((tool, arguments)) = &case.call else { continue };
            let id = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
            // What is not read as a message is answered without an id.
            let answer =
                client.wait_for(&case.name, |message| message["id"] == id || message["id"].is_null());
            assert!(answer.to_string().len() <= MOST_ANSWER_BYTES, "{}", case.name);
            let small = client.does("tools/call", json!({ "name": "getWorkspaceInfo", "arguments": {} }));
            assert_ne!(small["isError"], true, "after {}: {small}", case.name);
        }
    });
}

#[test]
fn no_request_over_http_takes_much_memory_or_for_ever() {
    rounds(|| {
        let (project, cases) = project();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--json", "--no-token"];
        let mut command = limited(&project, &serve, MEMORY_KIB);
        let server = {
            command.stdout(Stdio::piped()).stderr(Stdio::null());
            WebServer::started(command)
        };
        for case in without_slow(cases) {
            let Some((tool, arguments)) = &case.call else { continue };
            let answer = server.call(tool, arguments);
            assert_ne!(answer.status, 0, "{}: no answer", case.name);
            assert!(answer.body.len() <= MOST_ANSWER_BYTES, "{}", case.name);
            server.get("/healthz").has_status(200);
        }
        server.does("getWorkspaceInfo", &json!({}));
    });
}

#[test]
fn no_message_over_a_websocket_takes_much_memory_or_for_ever() {
    let texts = hostile_texts(&repository(), 1);
    rounds(|| {
        let (project, cases) = project();
        let serve = ["serve", "--listen", "127.0.0.1:0", "--json", "--no-token"];
        let mut command = limited(&project, &serve, MEMORY_KIB);
        let server = {
            command.stdout(Stdio::piped()).stderr(Stdio::null());
            WebServer::started(command)
        };
        let texts = texts.iter().map(|text| (text.name.clone(), text.text.clone()));
        let lines = without_slow(cases).into_iter().map(|case| (case.name, case.line));
        for (name, text) in texts.chain(lines) {
            let mut client = SocketClient::connect(&server);
            // A server that refuses a message ends the connection before it has read all of it.
            let _ = client.socket.send(Message::text(text));
            if let Ok(frame) = client.next_frame() {
                assert!(frame.len() <= MOST_REFUSAL_BYTES, "{name}");
            }
            server.get("/healthz").has_status(200);
        }
        let mut client = SocketClient::connect(&server);
        client.execute("last", "echo still here");
        while client.next()["$type"] != "ResponseMessage" {}
    });
}

/// Runs a program on a text until it ends, which it has to in time.
fn read_by(project: &Project, arguments: &[&str], name: &str, text: &str, memory_kib: u64) -> Ran {
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(&input, text).unwrap();
    let mut command = limited(project, arguments, memory_kib);
    command.stdin(File::open(&input).unwrap()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let id = child.id().to_string();
    let (ended, has_ended) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        let is_late = has_ended.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if is_late {
            let _ = Command::new("kill").args(["-KILL", &id]).status();
        }
        is_late
    });
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    let mut errors = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        std::io::Read::read_to_end(&mut errors, &mut said).unwrap();
        said
    });
    std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut printed).unwrap();
    let status = child.wait().unwrap();
    drop(ended);
    let stderr = reader.join().unwrap();
    assert!(!guard.join().unwrap(), "{arguments:?} on {name}: not ended in time");
    Ran::of(std::process::Output { status, stdout: printed, stderr })
}

#[test]
fn no_text_takes_its_reader_much_memory_or_for_ever() {
    // A part of each text in a part of the memory: without optimization, all of it takes minutes.
    let (part, memory_kib) = if is_long_run() { (1, MEMORY_KIB) } else { (4, MEMORY_KIB / 2) };
    let texts = hostile_texts(&repository(), part);
    rounds(|| {
        let (project, _) = project();
        let id = project.begin("read hostile replies");
        let session = ["apply", "-", "--session", &id];
        let readers: [&[&str]; 4] =
            [&["parse", "tag", "-"], &["parse", "codali", "-"], &["codali", "-"], &session];
        for HostileText { name, text } in &texts {
            for reader in readers {
                let ran = read_by(&project, reader, name, text, memory_kib);
                let excerpt: String = ran.stderr.chars().take(600).collect();
                assert!((0..=5).contains(&ran.code), "{reader:?} on {name}: {} {excerpt}", ran.code);
                let printed = ran.stdout.len() + ran.stderr.len();
                assert!(printed <= MOST_PRINTED_BYTES, "{reader:?} on {name}: {printed} bytes");
            }
        }
    });
}

#[test]
fn the_bound_on_memory_is_one() {
    let (project, cases) = project();
    let large = cases.iter().find(|case| case.name == "writeFile: 16 MiB").unwrap();
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(&input, format!("{}\n", large.line)).unwrap();
    let is_answered = |memory_kib| {
        let input = File::open(&input).unwrap();
        let output = limited(&project, &["wap"], memory_kib).stdin(input).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("\"success\":true")
    };
    assert!(is_answered(MEMORY_KIB));
    assert!(!is_answered(40 * 1024), "40 MB are not enough for 16 MiB as a line, a value and a plan");
}
