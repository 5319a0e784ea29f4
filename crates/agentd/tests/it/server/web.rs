//! `agentd serve`: the tools over HTTP.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::memory::own_kib;
use crate::fixture::project::Project;
use crate::fixture::web_server::{MOMENT, WebServer, read_answer, token_file};

const LONG: &str = "touch begun; sleep 30; touch ended";

#[test]
fn a_client_reads_edits_runs_and_searches() {
    let project = Project::new();
    project.write("src/a.txt", "one\ntwo\n");
    let server = WebServer::start(&project, &[]);
    let read = server.does("readFile", &json!({ "path": "src/a.txt" }));
    let absolute = project.workspace().canonicalize().unwrap().join("src/a.txt");
    assert_eq!((&read["content"], &read["metadata"]["path"]), (&json!("one\ntwo\n"), &json!(absolute)));
    server.does("writeFile", &json!({ "path": "b.txt", "content": "b\n" }));
    let ran = server.does("executeCommand", &json!({ "command": "cat b.txt; exit 3" }));
    assert_eq!((&ran["stdout"], &ran["exitCode"]), (&json!("b\n"), &json!(3)));
    let answer = server.does("searchFiles", &json!({ "paths": ["."], "query": "two", "type": "literal" }));
    assert_eq!(answer["totalMatches"], 1);
    let info = server.get("/v1/info").has_status(200).json();
    assert_eq!(info["limits"]["maxSearchResults"], 100);
    assert_eq!(server.does("getWorkspaceInfo", &json!({})), info);
    // Without a body there are no arguments.
    assert_eq!(server.send("POST", "/v1/tools/getWorkspaceInfo", &[], b"").has_status(200).json(), info);
    server.does("deleteFile", &json!({ "path": "b.txt" }));
}

#[test]
fn arguments_that_a_tool_does_not_know_are_named() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    let read = server.does("readFile", &json!({ "path": "a.txt", "encoding": "latin1" }));
    assert_eq!(read["warnings"], json!(["unknown argument 'encoding' was ignored"]));
    assert!(server.does("readFile", &json!({ "path": "a.txt" })).get("warnings").is_none());
    let error =
        server.call("readFile", &json!({ "file": "a.txt" })).fails(400, "INVALID_ARGUMENT", "INVALID_FIELD");
    assert_eq!(
        (&error["details"]["field"], &error["details"]["unknownArguments"]),
        (&json!("path"), &json!(["file"]))
    );
}

#[test]
fn failures_have_a_status_and_the_error_object() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    let cases = [
        ("readFile", json!({ "path": "missing" }), 404, "FILE_NOT_FOUND", "FILE_NOT_FOUND"),
        ("readFile", json!({ "path": "../x" }), 403, "PERMISSION_DENIED", "PATH_ESCAPE_ATTEMPT"),
        ("readFile", json!({ "path": "a.txt", "startLine": "1" }), 400, "INVALID_ARGUMENT", "INVALID_FIELD"),
        ("readFile", json!(["a.txt"]), 400, "INVALID_ARGUMENT", "INVALID_FIELD"),
        // Also where it would not matter.
        ("exploreFiles", json!({ "path": ".", "maxDepth": 0 }), 400, "INVALID_ARGUMENT", "INVALID_FIELD"),
        ("moveFile", json!({}), 404, "INVALID_ARGUMENT", "UNKNOWN_TOOL"),
        (
            "modifyFile",
            json!({ "path": "a.txt", "expectedVersion": "x", "operations": [{ "type": "delete", "startLine": 1, "endLine": 1 }] }),
            409,
            "INVALID_ARGUMENT",
            "CONFLICT",
        ),
        ("executeCommand", json!({ "command": "sleep 20", "timeout": 100 }), 422, "TIMEOUT", "TIMEOUT"),
    ];
    for (tool, arguments, status, code, reason) in cases {
        let error = server.call(tool, &arguments).fails(status, code, reason);
        let message = error.to_string();
        assert!(!message.contains(project.folder().to_str().unwrap()), "{message}");
    }
    server.get("/v2").fails(404, "FILE_NOT_FOUND", "PATH_NOT_FOUND");
    server.get("/v1/tools/readFile").fails(405, "INVALID_ARGUMENT", "INVALID_FIELD");
    let json = &["Content-Type: application/json"];
    server.send("POST", "/v1/tools/readFile", json, b"{\"path\"").fails(
        400,
        "INVALID_ARGUMENT",
        "INVALID_FIELD",
    );
    server.send("POST", "/v1/tools/readFile", json, b"\xff").fails(400, "INVALID_ARGUMENT", "INVALID_FIELD");
    // What a page could send without being asked whether it may.
    let plain = &["Content-Type: text/plain"];
    let body = br#"{"path":"a.txt"}"#;
    server.send("POST", "/v1/tools/readFile", plain, body).fails(415, "INVALID_ARGUMENT", "INVALID_FIELD");
    server.send("POST", "/v1/tools/readFile", &[], body).fails(415, "INVALID_ARGUMENT", "INVALID_FIELD");
    server.does("readFile", &json!({ "path": "a.txt" }));
}

#[test]
fn only_who_has_the_token_may_ask() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    let token = server.token.clone().unwrap();
    let wrong = [
        "Authorization: none".to_owned(),
        "Authorization: Bearer x".to_owned(),
        format!("Authorization: Bearer {}", &token[1..]),
        format!("Authorization: Bearer {token}0"),
        format!("Authorization: Basic {token}"),
    ];
    for line in &wrong {
        for path in ["/v1/info", "/metrics", "/v1/openapi.json", "/mcp"] {
            let answer = server.send("GET", path, &[line], b"");
            assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
            answer.fails(401, "PERMISSION_DENIED", "UNAUTHORIZED");
        }
        let answer = server.call_as("writeFile", &json!({ "path": "b.txt", "content": "x" }), &[line]);
        answer.fails(401, "PERMISSION_DENIED", "UNAUTHORIZED");
    }
    assert!(!project.has("b.txt"));
    // The control: the same requests with the token, in the header or in the address.
    server.get("/v1/info").has_status(200);
    server.send("GET", &format!("/v1/info?token={token}"), &["Authorization: none"], b"").has_status(200);
    server.send("GET", "/v1/info?token=x", &["Authorization: none"], b"").has_status(401);
    // Two addresses are open to everybody.
    assert!(
        server.send("GET", "/", &["Authorization: none"], b"").has_status(200).text().starts_with("agentd ")
    );
    server.send("GET", "/healthz", &["Authorization: none"], b"").has_status(200);
}

#[test]
fn a_token_is_made_once_and_closed_to_others() {
    let project = Project::new();
    let file = token_file(&project);
    let first = WebServer::start(&project, &[]).token.clone().unwrap();
    assert!(first.len() >= 32);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(WebServer::start(&project, &[]).token.as_ref(), Some(&first));
    let serve = |listen: &str| {
        let mut command = project.command(&["serve", "--listen", listen, "--token-file"]);
        crate::fixture::project::Ran::of(command.arg(&file).output().unwrap())
    };
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    serve("127.0.0.1:0").exits(1).says("others may read it");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "short\n").unwrap();
    serve("127.0.0.1:0").exits(2).says("too short");
    // By default it is in the user's state directory.
    let state = project.folder().join("user-state");
    let mut command = project.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    command.env("XDG_STATE_HOME", &state);
    let server = WebServer::started(command);
    assert_eq!(
        fs::read_to_string(state.join("agentd/token")).unwrap().trim(),
        server.token.as_deref().unwrap()
    );
}

#[test]
fn no_token_is_for_this_machine_only_and_said() {
    let project = Project::new();
    project.run(&["serve", "--no-token", "--listen", "0.0.0.0:0"]).exits(4).says("this machine only");
    let server = WebServer::start(&project, &["--no-token"]);
    assert_eq!(server.token, None);
    server.get("/v1/info").has_status(200);
    // Host and origin are checked all the more.
    server.send("GET", "/v1/info", &["Host: evil.example"], b"").has_status(403);
    server.send("GET", "/v1/info", &["Origin: http://evil.example"], b"").has_status(403);
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let project = Project::new();
    let server = WebServer::start(&project, &["--allow-host", "desk.example"]);
    let port = server.address.port();
    let own = server.address.to_string();
    let hosts = [
        (own.clone(), true),
        (format!("localhost:{port}"), true),
        ("LOCALHOST".to_owned(), true),
        ("[::1]:1".to_owned(), true),
        ("desk.example".to_owned(), true),
        ("evil.example".to_owned(), false),
        (format!("evil.example:{port}"), false),
        ("127.0.0.1.evil.example".to_owned(), false),
        ("localhost.".to_owned(), false),
        (String::new(), false),
    ];
    for (host, is_known) in hosts {
        for path in ["/healthz", "/v1/info"] {
            let answer = server.send("GET", path, &[&format!("Host: {host}")], b"");
            if is_known {
                answer.has_status(200);
            } else {
                answer.fails(403, "PERMISSION_DENIED", "UNAUTHORIZED");
            }
        }
    }
    let origins = [
        (format!("http://{own}"), true),
        ("http://evil.example".to_owned(), false),
        (format!("http://localhost:{}", port.wrapping_add(1)), false),
        ("null".to_owned(), false),
        (format!("file://{own}"), false),
    ];
    for (origin, is_known) in origins {
        let answer = server.send("GET", "/v1/info", &[&format!("Origin: {origin}")], b"");
        assert_eq!(answer.status == 200, is_known, "{origin}: {}", answer.text());
    }
    // Two hosts are none.
    let mut stream = server.connect();
    write!(
        stream,
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let answer = read_answer(&mut BufReader::new(stream));
    assert!([400, 403].contains(&answer.status), "{answer:?}");
}

#[test]
fn a_body_that_is_too_long_is_refused_and_not_held() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let head = |length: &str| {
        let head = server.head("POST", "/v1/tools/writeFile", &["Content-Type: application/json"]);
        format!("{head}{length}\r\n\r\n")
    };
    // Announced: it is refused before it is sent.
    let mut stream = server.connect();
    stream.write_all(head("Content-Length: 104857600").as_bytes()).unwrap();
    read_answer(&mut BufReader::new(&stream)).fails(413, "SIZE_LIMIT_EXCEEDED", "REQUEST_TOO_LARGE");
    // In pieces: it is refused on the way.
    let mut stream = server.connect();
    stream.write_all(head("Transfer-Encoding: chunked").as_bytes()).unwrap();
    let piece = vec![b' '; 1 << 20];
    for _ in 0..100 {
        let sent = write!(stream, "{:x}\r\n", piece.len())
            .and_then(|()| stream.write_all(&piece))
            .and_then(|()| stream.write_all(b"\r\n"));
        if sent.is_err() {
            break;
        }
    }
    let answer = read_answer(&mut BufReader::new(&stream));
    // The end of the connection may come before the answer can be read.
    assert!(answer.status == 413 || answer.status == 0, "{answer:?}");
    let own = own_kib(server.process_id());
    assert!(own < 64 << 10, "{own} KiB");
    server.get("/healthz").has_status(200);
    // Close below the limit it is written.
    let content = "x".repeat(16_700_000);
    server.does("writeFile", &json!({ "path": "big.txt", "content": content }));
}

#[test]
fn a_client_that_vanishes_takes_its_command_with_it() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let body = json!({ "command": LONG, "timeout": 60_000 }).to_string();
    let mut stream = server.connect();
    let head = server.head("POST", "/v1/tools/executeCommand", &["Content-Type: application/json"]);
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    eventually("the command runs", || project.written("begun").is_some());
    drop(stream);
    // Commands queue: this one has its turn because the other one is gone.
    assert_eq!(server.does("executeCommand", &json!({ "command": "echo free" }))["stdout"], "free\n");
    assert!(!project.has("ended"));
}

#[test]
fn stopping_it_ends_commands_and_answers_what_was_begun() {
    let project = Project::new();
    let mut server = WebServer::start(&project, &[]);
    let body = json!({ "command": LONG, "timeout": 60_000 }).to_string();
    let mut stream = server.connect();
    let head = server.head("POST", "/v1/tools/executeCommand", &["Content-Type: application/json"]);
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    eventually("the command runs", || project.written("begun").is_some());
    let waiting = thread::spawn(move || read_answer(&mut BufReader::new(stream)));
    assert_eq!(server.interrupt(), 130);
    waiting.join().unwrap().fails(422, "EXECUTION_FAILED", "CANCELLED");
    assert!(!project.has("ended"));
}

#[test]
fn a_thousand_idle_connections_delay_no_other() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    let idle: Vec<_> = (0..900).map(|_| server.connect()).collect();
    for _ in 0..20 {
        server.does("readFile", &json!({ "path": "a.txt" }));
    }
    let metrics = server.get("/metrics").has_status(200).text();
    let open = metrics.lines().find_map(|line| line.strip_prefix("agentd_connections ")).unwrap();
    assert!(open.parse::<u64>().unwrap() >= 900, "{open}");
    drop(idle);
}

#[test]
fn many_read_at_once_without_a_failure() {
    let project = Project::new();
    project.write("a.txt", &"line\n".repeat(1_000));
    let server = WebServer::start(&project, &[]);
    thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(server.does("readFile", &json!({ "path": "a.txt" }))["totalLines"], 1_000);
                }
            });
        }
    });
    let metrics = server.get("/metrics").text();
    assert!(metrics.contains("agentd_calls_total{tool=\"readFile\",outcome=\"done\"} 500\n"), "{metrics}");
    assert!(metrics.contains("agentd_running_calls 0\n"), "{metrics}");
    assert!(metrics.contains("agentd_call_seconds_count{tool=\"readFile\"} 500\n"), "{metrics}");
}

#[test]
fn requests_of_one_conversation_share_what_was_shown() {
    let edit = json!({ "path": "a.txt", "operations": [{ "type": "replace", "startLine": 2, "endLine": 2, "newContent": "TWO" }] });
    for (header, expected) in [
        ("Agentd-Conversation: c1", "zero\none\nTWO\nthree\n"),
        // Without a conversation, the number means the current file.
        ("Agentd-Conversation: none", "zero\nTWO\ntwo\nthree\n"),
    ] {
        let project = Project::new();
        project.write("a.txt", "one\ntwo\nthree\n");
        let server = WebServer::start(&project, &[]);
        server.call_as("readFile", &json!({ "path": "a.txt" }), &[header]).has_status(200);
        let insert = json!({ "path": "a.txt", "operations": [{ "type": "insert", "afterLine": 0, "newContent": "zero" }] });
        server.call_as("modifyFile", &insert, &["Agentd-Conversation: c2"]).has_status(200);
        server.call_as("modifyFile", &edit, &[header]).has_status(200);
        assert_eq!(project.read("a.txt"), expected, "{header}");
    }
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    for name in ["x".repeat(129), "two words".to_owned(), "a\tb".to_owned(), "n\u{f6}".to_owned()] {
        let header = format!("Agentd-Conversation: {name}");
        let answer = server.call_as("readFile", &json!({ "path": "a.txt" }), &[&header]);
        answer.fails(400, "INVALID_ARGUMENT", "INVALID_FIELD");
    }
}

#[test]
fn the_open_api_document_is_stable_and_refers_to_nothing_that_is_missing() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut document = server.get("/v1/openapi.json").has_status(200).json();
    document["info"]["version"] = json!("the version");
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let reference = reference.split('"').next().unwrap();
        let name = reference.strip_prefix("#/components/schemas/").unwrap_or_else(|| panic!("{reference}"));
        assert!(document["components"]["schemas"][name].is_object(), "{reference}");
    }
    assert!(!text.contains("$defs") && !text.contains("$schema"));
    insta::assert_json_snapshot!("openapi", document);
}

#[test]
fn mcp_is_there_too_in_both_eras() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let server = WebServer::start(&project, &[]);
    let both = "Accept: application/json, text/event-stream";
    let post = |message: Value, more: &[&str]| {
        let mut lines = vec!["Content-Type: application/json", both];
        lines.extend(more);
        server.send("POST", "/mcp", &lines, message.to_string().as_bytes())
    };
    let result = |text: String| -> Value {
        let data =
            text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.contains("\"id\""));
        serde_json::from_str(data.unwrap_or(&text).trim()).unwrap_or_else(|_| panic!("{text}"))
    };
    // With a handshake and a session.
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    } });
    let answer = post(initialize.clone(), &[]).has_status(200);
    let session =
        answer.head.lines().find_map(|line| line.strip_prefix("mcp-session-id:")).unwrap().trim().to_owned();
    let session = format!("Mcp-Session-Id: {session}");
    let version = "Mcp-Protocol-Version: 2025-11-25";
    post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), &[&session, version])
        .has_status(202);
    let read = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "readFile", "arguments": { "path": "a.txt" } } });
    let read = result(post(read, &[&session, version]).has_status(200).text());
    assert!(read["result"]["content"][0]["text"].as_str().unwrap().ends_with("\n1|one\n"), "{read}");
    // The end of a session is answered as done: some clients take anything but 200 and 204 for a failure.
    let ended = server.send("DELETE", "/mcp", &[&session, version], b"").has_status(204);
    assert!(ended.body.is_empty(), "{}", ended.text());
    let ping = json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" });
    assert_eq!(post(ping, &[&session, version]).status, 404);
    // Stateless.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": { "_meta": meta } });
    let era = ["Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"];
    let list = result(post(list, &era).has_status(200).text());
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 8, "{list}");
    // The same guard as everywhere.
    assert_eq!(post(initialize.clone(), &["Origin: http://evil.example"]).status, 403);
    assert_eq!(post(initialize.clone(), &["Host: evil.example"]).status, 403);
    assert_eq!(post(initialize, &["Authorization: none"]).status, 401);
}

#[test]
fn http_and_lines_work_on_one_workspace() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let mut lines = LineClient::start(project.command(&["wap"]));
    lines.does("writeFile", json!({ "path": "a.txt", "content": "from lines\n" }));
    assert_eq!(server.does("readFile", &json!({ "path": "a.txt" }))["content"], "from lines\n");
}

#[test]
fn nonsense_is_answered_or_hung_up_on() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    let long_header = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(200_000));
    for bytes in [
        &b"nonsense\r\n\r\n"[..],
        b"\0\0\0\0",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        long_header.as_bytes(),
    ] {
        let mut stream = server.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
    thread::sleep(MOMENT);
    server.get("/healthz").has_status(200);
}
