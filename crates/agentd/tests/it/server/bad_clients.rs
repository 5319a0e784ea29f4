//! Clients that are slow, idle, many or wrong: each is answered or disconnected, and no other client is affected.

use std::io::{BufReader, Write};

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::memory::own_kib;
use crate::fixture::project::Project;
use crate::fixture::web_server::{Answer, WebServer, read_answer};

const JSON: &str = "Content-Type: application/json";
const BOTH: &str = "Accept: application/json, text/event-stream";

fn serves(server: &WebServer) {
    for _ in 0..5 {
        assert_eq!(server.does("readFile", &json!({ "path": "a.txt" }))["content"], "one\n");
    }
    assert_eq!(server.does("executeCommand", &json!({ "command": "cat a.txt" }))["stdout"], "one\n");
}

fn project() -> Project {
    let project = Project::new();
    project.write("a.txt", "one\n").write("big.txt", &"a line of a big file\n".repeat(40_000));
    project
}

#[test]
fn slow_clients_delay_no_other() {
    let project = project();
    let server = WebServer::start(&project, &[]);
    let mut slow = Vec::new();
    for _ in 0..20 {
        // Half a head, half a body, and an answer that is not read.
        let mut head = server.connect();
        head.write_all(b"POST /v1/tools/readFile HTTP/1.1\r\nHost: loc").unwrap();
        let lines = server.head("POST", "/v1/tools/readFile", &[JSON]);
        let mut body = server.connect();
        body.write_all(format!("{lines}Content-Length: 20\r\n\r\n{{\"path\"").as_bytes()).unwrap();
        let mut answer = server.connect();
        let request = json!({ "path": "big.txt" }).to_string();
        let request = format!("{lines}Content-Length: {}\r\n\r\n{request}", request.len());
        answer.write_all(request.as_bytes()).unwrap();
        slow.push([head, body, answer]);
    }
    serves(&server);
    // The control: those who go on are answered.
    let [_, mut body, answer] = slow.swap_remove(0);
    body.write_all(b": \"a.txt\"}   ").unwrap();
    assert_eq!(read_answer(&mut BufReader::new(body)).has_status(200).json()["content"], "one\n");
    let read = read_answer(&mut BufReader::new(answer)).has_status(200).json();
    assert_eq!(read["content"].as_str().unwrap().len(), 840_000);
}

#[test]
fn thousands_of_idle_connections_delay_no_other() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let files = maximum.map_or(8_192, |maximum| maximum.min(8_192));
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum }).unwrap();
    // With some left for other tests, and for the server, which takes as many as it may.
    let count = usize::try_from(files.saturating_sub(1_000)).unwrap().min(3_000);
    assert!(count >= 2_000, "this machine allows only {files} open files");
    let project = project();
    let server = WebServer::start(&project, &[]);
    let idle: Vec<_> = (0..count).map(|_| server.connect()).collect();
    serves(&server);
    let metrics = server.get("/metrics").has_status(200).text();
    let open = metrics.lines().find_map(|line| line.strip_prefix("agentd_connections ")).unwrap();
    assert!(open.parse::<usize>().unwrap() >= count, "{open} of {count}");
    drop(idle);
}

/// The answer to a message at the address of MCP.
fn mcp(server: &WebServer, body: &[u8], more: &[&str]) -> Answer {
    let era = ["Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: readFile"];
    let lines = [&[JSON, BOTH], &era[..], more].concat();
    server.send("POST", "/mcp", &lines, body)
}

fn message(method: &str, arguments: Value) -> Vec<u8> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let params = json!({ "_meta": meta, "name": "readFile", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string().into_bytes()
}

#[test]
fn what_is_no_message_of_mcp_is_refused_over_http() {
    let project = project();
    let server = WebServer::start(&project, &[]);
    for nonsense in [&b"{\"jsonrpc\""[..], b"\xff\xfe", b"[]", b"5", b"{}", b"", b"null"] {
        let answer = mcp(&server, nonsense, &[]);
        assert!((400..500).contains(&answer.status), "{nonsense:?}: {answer:?}");
    }
    let wrong = message("tools/call", json!({ "path": "a.txt", "startLine": "1" }));
    let answer = mcp(&server, &wrong, &[]).has_status(200).json();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let answer = mcp(&server, &message("tools/call", json!([1])), &[]);
    assert!((400..500).contains(&answer.status), "{answer:?}");
    let answer = mcp(&server, &message("nonsense/method", json!({})), &[]);
    assert!((400..500).contains(&answer.status), "{answer:?}");
    // The control: the same with nothing wrong about it.
    let answer = mcp(&server, &message("tools/call", json!({ "path": "a.txt" })), &[]).has_status(200).json();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().ends_with("\n1|one\n"), "{answer}");
}

#[test]
fn a_huge_message_of_mcp_is_refused_and_not_held() {
    let project = project();
    let server = WebServer::start(&project, &[]);
    let lines = ["Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: readFile"];
    let head = server.head("POST", "/mcp", &[&[JSON, BOTH], &lines[..]].concat());
    let piece = vec![b' '; 1 << 20];
    let both = ["Content-Length: 104857600", "Transfer-Encoding: chunked"];
    let mut resident = Vec::new();
    for length in [both, both, both].concat() {
        let mut stream = server.connect();
        stream.write_all(format!("{head}{length}\r\n\r\n").as_bytes()).unwrap();
        for _ in 0..100 {
            let size = if length.starts_with('T') { format!("{:x}\r\n", piece.len()) } else { String::new() };
            let end: &[u8] = if length.starts_with('T') { b"\r\n" } else { b"" };
            let sent = stream.write_all(size.as_bytes()).and_then(|()| stream.write_all(&piece));
            if sent.and_then(|()| stream.write_all(end)).is_err() {
                break;
            }
        }
        let answer = read_answer(&mut BufReader::new(&stream));
        // The end of the connection may come before the answer can be read.
        assert!([0, 413].contains(&answer.status), "{length}: {answer:?}");
        resident.push(own_kib(server.process_id()));
    }
    // What is taken of a body is bounded, and given back.
    assert!(resident[5] < 160_000 && resident[5] < resident[1] + 32_000, "{resident:?} KiB");
    serves(&server);
    // Over standard input: the line is passed over.
    let mut lines = LineClient::start(project.command(&["mcp"]));
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    });
    lines.does("initialize", hello);
    lines.notify("notifications/initialized", json!({}));
    let idle = own_kib(lines.process_id());
    let mut resident = Vec::new();
    for _ in 0..3 {
        for _ in 0..100 {
            lines.send_bytes(&piece);
        }
        lines.send_bytes(b"\n");
        let read = lines.does("tools/call", json!({ "name": "readFile", "arguments": { "path": "a.txt" } }));
        assert_eq!(read["isError"], false, "{read}");
        resident.push(own_kib(lines.process_id()));
    }
    // The buffer for a line doubles until it has room for the longest one, and stays.
    let most = idle + (128 << 10) + 8_000;
    assert!(resident[2] < most && resident[2] < resident[0] + 32_000, "{idle}, {resident:?} KiB");
}

#[test]
fn an_absolute_path_beneath_the_root_is_that_file_everywhere() {
    let project = project();
    let root = project.workspace().canonicalize().unwrap();
    let (inside, outside) = (root.join("a.txt"), project.folder().join("token"));
    std::fs::write(&outside, "0123456789abcdef0123456789abcdef\n").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&outside, open).unwrap();
    let server = WebServer::start(&project, &[]);
    assert_eq!(server.does("readFile", &json!({ "path": inside }))["content"], "one\n");
    let refused = server.call("readFile", &json!({ "path": outside }));
    refused.fails(403, "PERMISSION_DENIED", "PATH_ESCAPE_ATTEMPT");
    let mut lines = LineClient::start(project.command(&["wap"]));
    assert_eq!(lines.does("readFile", json!({ "path": inside }))["content"], "one\n");
    let refused = lines.ask("readFile", json!({ "path": outside }));
    assert_eq!(refused["error"]["data"]["details"]["reason"], "PATH_ESCAPE_ATTEMPT", "{refused}");
    // MCP shows a model relative paths only, whatever it was given.
    let answer = mcp(&server, &message("tools/call", json!({ "path": inside })), &[]).has_status(200).json();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("a.txt: ") && text.ends_with("\n1|one\n"), "{text}");
    let answer = mcp(&server, &message("tools/call", json!({ "path": outside })), &[]).has_status(200).json();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}
