//! The server's memory for clients is bounded: bodies that do not end, sessions, and waiting calls.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::memory::own_kib;
use crate::fixture::project::Project;
use crate::fixture::web_server::{Answer, WebServer, read_answer};

const JSON: &str = "Content-Type: application/json";
const BOTH: &str = "Accept: application/json, text/event-stream";

/// Sends the start of a body of 15 MB, as much of it as is taken, and leaves it at that.
fn unfinished(server: &WebServer, path: &str) -> TcpStream {
    let mut stream = server.connect();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let head = server.head("POST", path, &[JSON, BOTH]);
    stream.write_all(format!("{head}Content-Length: 15000000\r\n\r\n").as_bytes()).unwrap();
    let piece = vec![b' '; 1 << 20];
    for _ in 0..14 {
        if stream.write_all(&piece).is_err() {
            break;
        }
    }
    stream
}

#[test]
fn bodies_that_do_not_end_share_a_bounded_room_and_give_it_back() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    server.does("readFile", &json!({ "path": "a.txt" }));
    let before = own_kib(server.process_id());
    let paths = ["/v1/tools/writeFile", "/agent", "/mcp"];
    let streams: Vec<_> = thread::scope(|scope| {
        let sending: Vec<_> = (0..60)
            .map(|number| {
                let (server, path) = (&server, paths[number % paths.len()]);
                scope.spawn(move || unfinished(server, path))
            })
            .collect();
        sending.into_iter().map(|sending| sending.join().unwrap()).collect()
    });
    // Others are served meanwhile, and without the bound there would be 800 MB.
    for _ in 0..5 {
        server.does("readFile", &json!({ "path": "a.txt" }));
        server.get("/healthz").has_status(200);
    }
    let most = own_kib(server.process_id());
    assert!(most < before + 110 * 1024, "{before} KiB, then {most} KiB");
    drop(streams);
    // The control: a body that does end is taken as soon as there is room.
    let content = "x".repeat(15_000_000);
    eventually("there is room again", || {
        let answer = server.call("writeFile", &json!({ "path": "large", "content": content }));
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        answer.status == 200
    });
    eventually("the memory is given back", || {
        server.does("readFile", &json!({ "path": "a.txt" }));
        own_kib(server.process_id()) < before + 80 * 1024
    });
}

#[test]
fn json_of_very_many_values_is_refused_by_every_way_in() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let many = format!(r#"{{"path":"a","content":"","more":[{}0]}}"#, "0,".repeat(300_000));
    let answer = server.send("POST", "/v1/tools/writeFile", &[JSON], many.as_bytes());
    answer.fails(413, "SIZE_LIMIT_EXCEEDED", "REQUEST_TOO_LARGE");
    for path in ["/agent", "/mcp"] {
        server.send("POST", path, &[JSON, BOTH], many.as_bytes()).has_status(413);
    }
    // The control: the same length with few values.
    let few = json!({ "path": "a", "content": "0,".repeat(300_000) });
    server.call("writeFile", &few).has_status(200);
}

fn post(server: &WebServer, session: Option<&str>, message: &Value) -> Answer {
    let session = session.map(|session| format!("Mcp-Session-Id: {session}"));
    let version = "Mcp-Protocol-Version: 2025-11-25";
    let mut lines = vec![JSON, BOTH, version];
    lines.extend(session.as_deref());
    server.send("POST", "/mcp", &lines, message.to_string().as_bytes())
}

fn session(server: &WebServer) -> String {
    let answer = post(
        server,
        None,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    } }),
    );
    let answer = answer.has_status(200);
    let id =
        answer.head.lines().find_map(|line| line.strip_prefix("mcp-session-id:")).unwrap().trim().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    post(server, Some(&id), &ready).has_status(202);
    id
}

fn list(server: &WebServer, session: &str) -> u16 {
    post(server, Some(session), &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })).status
}

#[test]
fn more_sessions_of_mcp_than_there_may_be_end_the_idle_ones() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let (idle, busy, used) = (session(&server), session(&server), session(&server));
    let command = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "executeCommand",
        "arguments": { "command": "touch begun; sleep 12; echo done", "timeout": 120_000 }
    } });
    thread::scope(|scope| {
        let running = scope.spawn(|| post(&server, Some(&busy), &command));
        eventually("the command runs", || project.written("begun").is_some());
        let mut last = String::new();
        for number in 0..270 {
            last = session(&server);
            if number % 50 == 0 {
                assert_eq!(list(&server, &used), 200, "after {number} more");
            }
        }
        assert_eq!(list(&server, &last), 200);
        assert_eq!(list(&server, &used), 200, "one that is used was ended");
        assert_eq!(list(&server, &idle), 404, "the oldest idle one is still there");
        // What was being answered is answered.
        let answer = running.join().unwrap().has_status(200);
        assert!(answer.text().contains("done"), "{}", answer.text());
    });
}

#[test]
fn a_call_of_mcp_holds_its_body_until_it_is_answered() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let session = session(&server);
    let more = "x".repeat(15_000_000);
    let call = |id: u32, command: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "executeCommand", "arguments": { "command": command, "timeout": 120_000, "more": more }
        } })
    };
    let large = || server.call("writeFile", &json!({ "path": "large", "content": more })).status;
    thread::scope(|scope| {
        let first = scope.spawn(|| post(&server, Some(&session), &call(3, "touch begun; sleep 30")));
        eventually("the command runs", || project.written("begun").is_some());
        // The answers are streams whose heads are sent at once. These wait after the first.
        let others: Vec<_> = (4..7)
            .map(|id| {
                let (server, session, call) = (&server, &session, call(id, "true"));
                scope.spawn(move || post(server, Some(session), &call))
            })
            .collect();
        eventually("there is no room for a fifth of them", || large() == 503);
        first.join().unwrap().has_status(200);
        for other in others {
            other.join().unwrap().has_status(200);
        }
    });
    // The control: they have returned their shares.
    assert_eq!(large(), 200);
}

#[test]
fn ids_and_names_of_clients_that_are_kept_are_short() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let long = "x".repeat(100_000);
    let initialize = |name: &str| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name, "version": "1" }
        } })
    };
    post(&server, None, &initialize(&long)).has_status(400);
    post(&server, None, &initialize("test")).has_status(200);
    let session = session(&server);
    let list = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    post(&server, Some(&session), &list(&long)).has_status(400);
    post(&server, Some(&session), &list("short")).has_status(200);
    let agent =
        |id: &str| json!({ "$type": "ReadFileCommand", "commandId": id, "path": "a.txt" }).to_string();
    project.write("a.txt", "one\n");
    server.send("POST", "/agent", &[JSON], agent(&long).as_bytes()).has_status(400);
    server.send("POST", "/agent", &[JSON], agent("short").as_bytes()).has_status(200);
}

/// A port that is free now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn is_healthy(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).is_ok() && read_answer(&mut BufReader::new(stream)).status == 200
}

#[test]
fn a_server_is_there_while_its_workspace_is_being_opened() {
    let project = Project::new();
    project.begin("make a state folder");
    // Another process has the folder and lets no client in: this one waits for it for some seconds.
    let held = change_journal::Journal::open(
        &project.base().join("journal"),
        change_journal::JournalLimits::default(),
    );
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let mut server = Daemon::start(project.command(&["serve", "--no-token", "--listen", &address]));
    eventually("the server says that it is there", || {
        assert!(server.is_running(), "it has ended before it was asked");
        is_healthy(port)
    });
    // It is still opening; now it can.
    drop(held);
    let request = format!("GET /v1/info HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    read_answer(&mut BufReader::new(stream)).has_status(200);
    let ended = server.interrupt().exits(130);
    assert!(ended.stdout.contains("listening on"), "{ended}");
}

#[test]
fn a_server_whose_workspace_cannot_be_opened_ends() {
    let project = Project::new();
    project.begin("make a state folder");
    let _held = change_journal::Journal::open(
        &project.base().join("journal"),
        change_journal::JournalLimits::default(),
    );
    let server = Daemon::start(project.command(&["serve", "--no-token", "--listen", "127.0.0.1:0"]));
    let ended = server.wait().exits(5).says("is using the state folder");
    assert_eq!(ended.stdout, "", "it said that it serves");
}

/// Opens a WebSocket and sends the start of a text of 15 MB, as much of it as is taken.
fn unfinished_text(server: &WebServer) -> TcpStream {
    let mut stream = server.connect();
    let upgrade = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    stream.write_all(format!("{}\r\n", server.head("GET", "/ws", &upgrade)).as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
        head.extend(byte);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    // A final frame of text, with a length of eight bytes and a mask of zeros.
    let mut frame = vec![0x81, 0x80 | 127];
    frame.extend(15_000_000_u64.to_be_bytes());
    frame.extend([0; 4]);
    stream.write_all(&frame).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let piece = vec![b' '; 1 << 20];
    for _ in 0..14 {
        if stream.write_all(&piece).is_err() {
            break;
        }
    }
    stream
}

#[test]
fn messages_of_websockets_that_do_not_end_share_the_same_room() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &["--no-token"]);
    server.does("readFile", &json!({ "path": "a.txt" }));
    let before = own_kib(server.process_id());
    let streams: Vec<_> = thread::scope(|scope| {
        let sending: Vec<_> = (0..40).map(|_| scope.spawn(|| unfinished_text(&server))).collect();
        sending.into_iter().map(|sending| sending.join().unwrap()).collect()
    });
    for _ in 0..5 {
        server.does("readFile", &json!({ "path": "a.txt" }));
    }
    let most = own_kib(server.process_id());
    assert!(most < before + 160 * 1024, "{before} KiB, then {most} KiB");
    drop(streams);
}
