//! The llm4s dialect over a WebSocket and over HTTP.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};

use crate::fixture::daemon::PATIENCE;
use crate::fixture::project::Project;
use crate::fixture::socket_client::{SocketClient, eventually, outline, streamed};
use crate::fixture::web_server::{MOMENT, WebServer};

const STORY: [&str; 4] =
    ["CommandStartedMessage", "StreamingOutputMessage", "ResponseMessage", "CommandCompletedMessage"];

/// Checks whether a process runs whose arguments hold this text.
fn runs(text: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    })
}

/// A command that does not end by itself, and the text in its arguments that identifies it.
fn endless() -> (String, String) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mark = format!("86400.{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    (format!("echo begun; sleep {mark}"), mark)
}

fn heartbeat(client: &mut SocketClient) {
    client.send(&json!({ "$type": "HeartbeatMessage", "timestamp": 1 }));
    assert_eq!(client.next()["$type"], "HeartbeatResponseMessage");
}

#[test]
fn a_scripted_flow_works_from_the_first_look_to_the_last_command() {
    let project = Project::new();
    project.write("src/a.txt", "one\ntwo\nthree\n");
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    let info = client.does("GetWorkspaceInfo", json!({}));
    assert_eq!(info["$type"], "GetWorkspaceInfoResponse");
    assert_eq!(info["limits"]["maxSearchResults"], 100);
    let listing =
        client.does("ExploreFiles", json!({ "path": ".", "recursive": true, "returnMetadata": true }));
    assert_eq!(listing["files"][1]["metadata"]["path"], "src/a.txt", "{listing}");
    let read = client.does("ReadFile", json!({ "path": "src/a.txt" }));
    assert_eq!(
        (&read["content"], &read["metadata"]["path"]),
        (&json!("one\ntwo\nthree\n"), &json!("src/a.txt"))
    );
    let modified = client.does(
        "ModifyFile",
        json!({ "path": "src/a.txt", "operations": [
        { "$type": "InsertOperation", "afterLine": 0, "newContent": "zero" },
        { "$type": "org.llm4s.shared.ReplaceOperation", "startLine": 2, "endLine": 2, "newContent": "ONE" },
        { "$type": "RegexReplaceOperation", "pattern": "t(wo|hree)", "replacement": "T$1", "flags": "g" },
        { "$type": "DeleteOperation", "startLine": 4, "endLine": 4 },
    ] }),
    );
    assert_eq!(modified["$type"], "ModifyFileResponse", "{modified}");
    assert_eq!(project.read("src/a.txt"), "zero\nONE\nTwo\n");
    let written = client.does("WriteFile", json!({ "path": "b.txt", "content": "B\n", "mode": "create" }));
    assert_eq!(written["bytesWritten"], 2);
    let again = client.does("WriteFile", json!({ "path": "b.txt", "content": "B\n", "mode": "create" }));
    assert_eq!(
        (&again["$type"], &again["code"]),
        (&json!("WorkspaceAgentErrorResponse"), &json!("FILE_EXISTS"))
    );
    let answer = client.does("SearchFiles", json!({ "paths": ["."], "query": "ONE", "type": "literal" }));
    assert_eq!((&answer["totalMatches"], &answer["matches"][0]["line"]), (&json!(1), &json!(2)), "{answer}");
    client.execute("run", "cat src/a.txt; echo oops >&2; exit 3");
    let story = client.until_completed("run");
    assert_eq!(outline(&story), STORY);
    assert_eq!(streamed(&story, "stdout"), "zero\nONE\nTwo\n");
    assert_eq!(streamed(&story, "stderr"), "oops\n");
    let response = &story[story.len() - 2]["response"];
    assert_eq!(
        (&response["$type"], &response["exitCode"], &response["stdout"]),
        (&json!("ExecuteCommandResponse"), &json!(3), &json!("zero\nONE\nTwo\n"))
    );
    assert_eq!(story.last().unwrap()["exitCode"], 3);
    client.socket.close(None).unwrap();
    assert!(client.next_frame().is_err());
}

#[test]
fn output_arrives_while_the_command_runs() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    client.execute("slow", "echo first; while [ ! -e go ]; do sleep 0.02; done; echo second");
    let early = client.until("StreamingOutputMessage");
    assert_eq!(streamed(&early, "stdout"), "first\n");
    // Other answers do not wait for a running command.
    heartbeat(&mut client);
    client.cancel("slow");
    let rest = client.until_completed("slow");
    assert_eq!(rest.last().unwrap()["exitCode"], 143);
}

#[test]
fn cancelling_ends_the_process_and_is_reported_once() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    let (command, mark) = endless();
    client.execute("c", &command);
    let mut messages = client.until("StreamingOutputMessage");
    assert!(runs(&mark), "the command runs");
    client.cancel("c");
    messages.extend(client.until_completed("c"));
    assert_eq!(outline(&messages), STORY);
    assert_eq!(messages[messages.len() - 2]["response"]["exitCode"], 143);
    assert_eq!(messages.last().unwrap()["exitCode"], 143);
    eventually("the process has ended", || !runs(&mark));
    // It is over: cancelling it again is cancelling nothing, and says so.
    client.cancel("c");
    assert_eq!(
        client.next(),
        json!({ "$type": "ErrorMessage", "error": "No running command found for id c",
            "code": "UNKNOWN_COMMAND_ID", "commandId": "c" })
    );
    heartbeat(&mut client);
}

#[test]
fn a_timeout_is_in_seconds_and_ends_with_what_was_printed() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    client.command("ExecuteCommand", "t", json!({ "command": "echo so far; sleep 86400", "timeout": 1 }));
    let began = Instant::now();
    let story = client.until_completed("t");
    assert!(began.elapsed() >= Duration::from_millis(900), "a timeout of milliseconds would be over at once");
    let response = &story[story.len() - 2]["response"];
    assert_eq!((&response["exitCode"], &response["stdout"]), (&json!(-1), &json!("so far\n")));
    assert_eq!(story.last().unwrap()["exitCode"], -1);
}

#[test]
fn commands_of_a_client_that_goes_away_are_ended() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    type Leave = fn(SocketClient);
    let ways: [(&str, Leave); 3] = [
        ("closes", |mut client| {
            let _ = client.socket.close(None);
            let _ = client.next_frame();
        }),
        ("breaks off", |client| drop(client)),
        ("stops within a frame", |client| {
            let mut stream = client.socket.get_ref();
            let _ = stream.write_all(&[0x81, 0xfe, 0x10]);
        }),
    ];
    for (way, leave) in ways {
        let mut client = SocketClient::connect(&server);
        let (command, mark) = endless();
        client.execute("c", &command);
        client.until("StreamingOutputMessage");
        assert!(runs(&mark));
        leave(client);
        eventually(way, || !runs(&mark));
    }
}

#[test]
fn a_client_that_is_silent_is_closed_and_its_commands_are_ended() {
    let project = Project::new();
    let server = WebServer::start(&project, &["--timeout", "600"]);
    let mut silent = SocketClient::connect(&server);
    let mut lively = SocketClient::connect(&server);
    let (command, mark) = endless();
    silent.execute("c", &command);
    silent.until("StreamingOutputMessage");
    let began = Instant::now();
    // The times that a client says jump about; only that it says something counts.
    let mut times = [0_i64, i64::MAX, -1, 1_700_000_000_000, i64::MIN].into_iter().cycle();
    while began.elapsed() < Duration::from_secs(32) {
        lively.send(&json!({ "$type": "HeartbeatMessage", "timestamp": times.next() }));
        let answer = lively.next();
        assert_eq!(answer["$type"], "HeartbeatResponseMessage");
        assert!(answer["timestamp"].as_i64().unwrap() > 1_700_000_000_000, "{answer}");
        std::thread::sleep(Duration::from_secs(2));
    }
    let close = loop {
        match silent.next_frame() {
            Ok(_) => continue,
            Err(close) => break close.expect("the server says why"),
        }
    };
    assert_eq!((close.code, close.reason.as_str()), (CloseCode::Normal, "Heartbeat timeout"));
    eventually("the command has ended", || !runs(&mark));
    heartbeat(&mut lively);
}

#[test]
fn two_clients_may_use_one_command_id() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let (mut one, mut other) = (SocketClient::connect(&server), SocketClient::connect(&server));
    let (command, mark) = endless();
    one.execute("same", &command);
    one.until("StreamingOutputMessage");
    other.cancel("same");
    assert_eq!(other.next()["code"], "UNKNOWN_COMMAND_ID");
    other.command("ReadFile", "same", json!({ "path": "missing" }));
    assert_eq!(other.next()["response"]["code"], "FILE_NOT_FOUND");
    assert!(runs(&mark), "the command of the first client continues");
    // Within one connection an id names one command at a time.
    one.execute("same", "echo twice");
    let refused = one.next();
    assert_eq!(
        (&refused["$type"], &refused["code"]),
        (&json!("ErrorMessage"), &json!("DUPLICATE_COMMAND_ID"))
    );
    one.cancel("same");
    assert_eq!(one.until_completed("same").last().unwrap()["exitCode"], 143);
    one.execute("same", "echo again");
    assert_eq!(one.until_completed("same").last().unwrap()["exitCode"], 0);
}

#[test]
fn commands_overlap_and_are_distinguished_by_their_ids() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    client.execute("a", "sleep 0.3; echo from a");
    client.execute("b", "echo from b");
    client.command("GetWorkspaceInfo", "c", json!({}));
    let mut completed = Vec::new();
    let mut messages = Vec::new();
    while completed.len() < 2 {
        let message = client.next();
        if message["$type"] == "CommandCompletedMessage" {
            completed.push(message["commandId"].clone());
        }
        messages.push(message);
    }
    for (id, text) in [("a", "from a\n"), ("b", "from b\n")] {
        let own: Vec<Value> = messages.iter().filter(|message| message["commandId"] == id).cloned().collect();
        assert_eq!(streamed(&own, "stdout"), text);
    }
    assert!(messages.iter().any(|message| message["response"]["commandId"] == "c"));
}

#[test]
fn a_read_only_workspace_refuses_before_it_starts_anything() {
    let project = Project::new();
    project.write("a", "a\n");
    let server = WebServer::start(&project, &["--read-only"]);
    let mut client = SocketClient::connect(&server);
    client.execute("c", "rm -rf a");
    let messages = client.until_completed("c");
    assert_eq!(outline(&messages), ["ResponseMessage", "CommandCompletedMessage"]);
    assert_eq!(
        (&messages[0]["response"]["code"], &messages[1]["exitCode"]),
        (&json!("READ_ONLY"), &json!(1))
    );
    assert!(project.has("a"));
}

#[test]
fn bad_messages_are_answered_and_the_connection_stays() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    let parse = json!({ "$type": "ErrorMessage", "error": "Invalid message format", "code": "PARSE_ERROR" });
    for text in ["{nope", "", "[]", r#"{"$type": "Nonsense"}"#] {
        client.socket.send(Message::text(text)).unwrap();
        assert_eq!(client.next(), parse, "{text}");
    }
    client.socket.send(Message::binary(b"{}".to_vec())).unwrap();
    assert_eq!(client.next(), parse);
    client.send(
        &json!({ "$type": "CommandCompletedMessage", "commandId": "c", "exitCode": 0, "durationMs": 1 }),
    );
    assert_eq!(client.next()["code"], "INVALID_MESSAGE_TYPE");
    // A field that is missing or of the wrong type makes the message unreadable, as it does for the original.
    for (name, fields) in
        [("ReadFile", json!({ "path": 7 })), ("ReadFile", json!({})), ("ExecuteCommand", json!({}))]
    {
        client.command(name, "c", fields);
        assert_eq!(client.next(), parse, "{name}");
    }
    // Over the limit of a request, but not beyond all measure.
    client.socket.send(Message::text("x".repeat((16 << 20) + 1))).unwrap();
    assert_eq!(client.next()["code"], "REQUEST_TOO_LARGE");
    heartbeat(&mut client);
}

#[test]
fn frames_may_be_split_and_have_others_between_them() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    let text = json!({ "$type": "HeartbeatMessage", "why": "é漢😀" }).to_string();
    // Cut at every byte, also within a character, with a ping between the parts.
    for cut in 0..=text.len() {
        let (first, last) = text.as_bytes().split_at(cut);
        let frame = |bytes: &[u8], kind, is_last| Frame::message(bytes.to_vec(), OpCode::Data(kind), is_last);
        client.socket.send(Message::Frame(frame(first, Data::Text, false))).unwrap();
        let ping = Frame::ping(b"between".to_vec());
        client.socket.send(Message::Frame(ping)).unwrap();
        client.socket.send(Message::Frame(frame(last, Data::Continue, true))).unwrap();
        assert_eq!(client.next()["$type"], "HeartbeatResponseMessage", "cut at {cut}");
    }
    // Byte by byte on the line.
    let mut bytes = Vec::new();
    let mut whole = Frame::message(text.as_bytes().to_vec(), OpCode::Data(Data::Text), true);
    whole.header_mut().mask = Some([1, 2, 3, 4]);
    whole.format(&mut bytes).unwrap();
    for byte in bytes {
        client.socket.get_mut().write_all(&[byte]).unwrap();
    }
    assert_eq!(client.next()["$type"], "HeartbeatResponseMessage");
}

#[test]
fn malformed_frames_end_the_connection_and_nothing_else() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut witness = SocketClient::connect(&server);
    let mask = [0, 0, 0, 0];
    let masked = |head: &[u8], body: &[u8]| [head, &mask, body].concat();
    let cases: [(&str, Vec<u8>, u16); 6] = [
        ("a reserved bit", masked(&[0xc1, 0x82], b"{}"), 1002),
        ("an unknown kind", masked(&[0x83, 0x82], b"{}"), 1002),
        ("no mask", vec![0x81, 0x02, b'{', b'}'], 1002),
        ("the rest of nothing", masked(&[0x80, 0x82], b"{}"), 1002),
        ("no UTF-8", masked(&[0x81, 0x82], b"\xff\xfe"), 1007),
        (
            "a frame of 8 EiB",
            masked(&[0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], b""),
            1009,
        ),
    ];
    for (what, bytes, code) in cases {
        let mut client = SocketClient::connect(&server);
        client.socket.get_mut().write_all(&bytes).unwrap();
        let close =
            client.next_frame().expect_err(what).unwrap_or_else(|| panic!("{what}: no reason is given"));
        assert_eq!(u16::from(close.code), code, "{what}: {close:?}");
    }
    // Many small parts that are too large together.
    let mut client = SocketClient::connect(&server);
    let part = vec![b'x'; 1 << 20];
    let mut ended = false;
    for number in 0..64 {
        let kind = if number == 0 { Data::Text } else { Data::Continue };
        let frame = Frame::message(part.clone(), OpCode::Data(kind), false);
        ended = client.socket.send(Message::Frame(frame)).is_err();
        if ended {
            break;
        }
    }
    assert!(ended || client.next_frame().is_err());
    heartbeat(&mut witness);
}

#[test]
fn a_client_that_never_reads_costs_the_others_nothing() {
    let project = Project::new();
    project.write("big.txt", &"x".repeat(1_000_000));
    let server = WebServer::start(&project, &["--timeout", "600"]);
    let mut deaf = SocketClient::connect(&server);
    // More answers than are kept for a client.
    deaf.socket.get_mut().set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    for number in 0..200 {
        let command = json!({ "$type": "CommandMessage", "command": {
            "$type": "ReadFileCommand", "commandId": format!("r{number}"), "path": "big.txt" } });
        if deaf.socket.send(Message::text(command.to_string())).is_err() {
            break;
        }
    }
    let mut client = SocketClient::connect(&server);
    client.execute("c", "echo still here");
    assert_eq!(streamed(&client.until_completed("c"), "stdout"), "still here\n");
    // It is given up, and what it did not take is given back.
    let mut left = Vec::new();
    let stream = deaf.socket.get_mut();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    eventually("the connection is given up", || {
        let figures = server.get("/metrics").text();
        figures.lines().any(|line| line == "agentd_connections 2")
    });
    let _ = stream.read_to_end(&mut left);
    assert!(left.len() < 150_000_000, "{} bytes were kept for it", left.len());
}

#[test]
fn output_that_is_not_read_in_time_is_left_out_and_counted() {
    let project = Project::new();
    let server = WebServer::start(&project, &["--timeout", "600"]);
    let mut client = SocketClient::connect(&server);
    client.execute("c", "head -c 60000000 /dev/zero | tr '\\0' x; touch done; echo; echo the end");
    client.until("CommandStartedMessage");
    eventually("the command does not wait for its reader", || project.written("done").is_some());
    let story = client.until_completed("c");
    let output = streamed(&story, "stdout");
    assert!(output.len() < 40_000_000, "{}", output.len());
    let left_out: usize =
        output.split('…').filter_map(|part| part.trim().split(' ').next()?.parse::<usize>().ok()).sum();
    let kept = output.bytes().filter(|byte| *byte == b'x').count();
    // "the end" may be among what was left out.
    let end = if output.ends_with("the end\n") { 9 } else { 0 };
    assert!(
        left_out > 0 && (60_000_000..=60_000_009).contains(&(left_out + kept + end)),
        "{left_out} and {kept}"
    );
    let response = &story[story.len() - 2]["response"];
    assert!(response["stdout"].as_str().unwrap().ends_with("the end\n"));
}

#[test]
fn a_socket_needs_what_every_request_needs() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let token = server.token.clone().unwrap();
    let token = token.as_str();
    let status = |path: &str, token: Option<&str>, headers: &[(&str, &str)]| {
        SocketClient::try_connect(&server, path, token, headers).err()
    };
    assert_eq!(status("/ws", Some(token), &[]), None);
    assert_eq!(status(&format!("/ws?token={token}"), None, &[]), None);
    assert_eq!(status("/ws", None, &[]), Some(401));
    assert_eq!(status("/ws", Some("wrong wrong wrong wrong"), &[]), Some(401));
    assert_eq!(status("/ws", Some(token), &[("Origin", "http://evil.example")]), Some(403));
    let own = format!("http://{}", server.address);
    assert_eq!(status("/ws", Some(token), &[("Origin", &own)]), None);
    assert_eq!(status("/", Some(token), &[]), Some(200));
    server.get("/ws").fails(400, "INVALID_ARGUMENT", "INVALID_FIELD");
    server.send("GET", "/ws", &["Host: evil.example"], b"").has_status(403);
    server.send("POST", "/agent", &["Authorization: none"], b"{}").has_status(401);
    server.send("POST", "/agent", &["Origin: http://evil.example"], b"{}").has_status(403);
}

#[test]
fn single_commands_are_answered_over_http() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    let ask = |body: Value| server.send("POST", "/agent", &[], body.to_string().as_bytes());
    let read = ask(json!({ "$type": "org.llm4s.shared.ReadFileCommand", "commandId": "c", "path": "a.txt" }));
    let read = read.has_status(200).json();
    assert_eq!(
        (&read["$type"], &read["commandId"], &read["content"]),
        (&json!("ReadFileResponse"), &json!("c"), &json!("one\n"))
    );
    let missing =
        ask(json!({ "$type": "ReadFileCommand", "commandId": "c", "path": "b.txt" })).has_status(200).json();
    assert_eq!(
        (&missing["$type"], &missing["code"]),
        (&json!("WorkspaceAgentErrorResponse"), &json!("FILE_NOT_FOUND"))
    );
    let late = json!({ "$type": "ExecuteCommandCommand", "commandId": "c", "command": "echo x; sleep 86400", "timeout": 1 });
    let late = ask(late).has_status(200).json();
    assert_eq!(
        (&late["$type"], &late["exitCode"], &late["stdout"]),
        (&json!("ExecuteCommandResponse"), &json!(-1), &json!("x\n"))
    );
    for body in [&b"{nope"[..], b"", b"\xff", b"{}"] {
        let bad = server.send("POST", "/agent", &[], body).has_status(400).json();
        assert_eq!((&bad["commandId"], &bad["code"]), (&json!("unknown"), &json!("INVALID_REQUEST")));
    }
}

#[test]
fn a_client_that_knows_the_workspace_by_another_path_works_with_its_files() {
    let project = Project::new();
    project.write("src/a.txt", "one\n");
    // As the original client is used: no token, and the paths of the container.
    let server = WebServer::start(&project, &["--no-token", "--llm4s-workspace"]);
    let mut client = SocketClient::connect(&server);
    let mut ask = |name: &str, fields: Value| {
        client.command(name, "c", fields);
        client.next()["response"].clone()
    };
    assert_eq!(ask("ReadFile", json!({ "path": "/workspace/src/a.txt" }))["content"], "one\n");
    assert_eq!(ask("ExploreFiles", json!({ "path": "/workspace" }))["files"][0]["path"], "src");
    let query = json!({ "paths": ["/workspace/src"], "query": "one", "type": "literal" });
    assert_eq!(ask("SearchFiles", query)["totalMatches"], 1);
    assert_eq!(ask("WriteFile", json!({ "path": "/workspace/b.txt", "content": "b" }))["success"], true);
    assert_eq!(project.read("b.txt"), "b");
    assert_eq!(ask("GetWorkspaceInfo", json!({}))["root"], "/workspace");
    // Nothing else becomes reachable.
    for path in ["/workspace/../secret", "/workspaces/src/a.txt", "/etc/passwd"] {
        assert_eq!(ask("ReadFile", json!({ "path": path }))["code"], "PATH_ESCAPE_ATTEMPT", "{path}");
    }
    let folder = json!({ "$type": "ExecuteCommandCommand", "commandId": "c", "command": "ls", "workingDirectory": "/workspace/src" });
    let ran = server.send("POST", "/agent", &[], folder.to_string().as_bytes()).has_status(200).json();
    assert_eq!(ran["stdout"], "a.txt\n", "{ran}");
    // The control: without the option, that is a path outside.
    let project = Project::new();
    project.write("src/a.txt", "one\n");
    let server = WebServer::start(&project, &["--no-token"]);
    let mut client = SocketClient::connect(&server);
    client.command("ReadFile", "c", json!({ "path": "/workspace/src/a.txt" }));
    assert_eq!(client.next()["response"]["code"], "PATH_ESCAPE_ATTEMPT");
}

#[test]
fn a_server_that_stops_ends_commands_and_says_goodbye() {
    let project = Project::new();
    let mut server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    let (command, mark) = endless();
    client.execute("c", &command);
    client.until("StreamingOutputMessage");
    server.interrupt();
    assert_eq!(client.until_completed("c").last().unwrap()["exitCode"], 143);
    let close = client.next_frame().unwrap_err().expect("the server says why");
    assert_eq!(close.code, CloseCode::Away);
    assert!(!runs(&mark));
    std::thread::sleep(MOMENT);
}

#[test]
fn a_process_that_does_not_own_the_state_folder_streams_too() {
    let project = Project::new();
    let owner = WebServer::start(&project, &[]);
    let server = WebServer::start(&project, &[]);
    let mut client = SocketClient::connect(&server);
    client.execute("c", "echo through the owner");
    let story = client.until_completed("c");
    assert_eq!(outline(&story), STORY);
    assert_eq!(story[story.len() - 2]["response"]["stdout"], "through the owner\n");
    let mut other = SocketClient::connect(&owner);
    heartbeat(&mut other);
}
