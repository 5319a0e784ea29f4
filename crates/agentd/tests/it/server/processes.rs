//! Background processes over every front end: reached by the commands of their conversation, read, listed, and ended with
//! it.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::fixture::socket_client::{SocketClient, streamed};
use crate::fixture::web_server::WebServer;
use crate::tasks::client::meta;

/// Serves the folder on a free port and prints the port; the marker finds it among the processes of the machine.
const SERVER: &str = "exec python3 -u -c 'import http.server as h
server = h.ThreadingHTTPServer((\"127.0.0.1\", 8123), h.SimpleHTTPRequestHandler)
print(\"Listening on 8123\")
server.serve_forever()' MARKER";

const ASK: &str = "python3 -c 'import urllib.request as r; print(r.urlopen(\"http://localhost:8123/page.txt\", timeout=20).read().decode())'";

/// A name that only processes of this test have among their arguments.
fn marker(test: &str) -> String {
    format!("agentd-test-{test}-{}", std::process::id())
}

fn server(marker: &str) -> String {
    SERVER.replace("MARKER", marker)
}

/// The number of processes of the machine with a marker among their arguments.
fn survivors(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&format!("{marker}\0"))).count()
}

/// Waits until all of them are gone.
#[track_caller]
fn all_gone(marker: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while survivors(marker) > 0 {
        assert!(Instant::now() < deadline, "{marker} runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn mcp(project: &Project, options: &[&str]) -> LineClient {
    let mut client = LineClient::start(project.command(&[&["mcp"], options].concat()));
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    client
}

fn tool(client: &mut LineClient, name: &str, arguments: &Value) -> String {
    let answer = client.does("tools/call", json!({ "name": name, "arguments": arguments }));
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

fn start(marker: &str) -> Value {
    json!({ "command": server(marker), "background": "web", "ready": "Listening on" })
}

#[test]
fn an_mcp_client_works_with_a_server_of_its_own() {
    for project in [Project::new(), Project::new().of_an_ordinary_user()] {
        let marker = marker("mcp");
        project.write("page.txt", "first\n");
        project.give_to_its_user(&project.workspace().join("page.txt"));
        let mut client = mcp(&project, &[]);
        let started = tool(&mut client, "executeCommand", &start(&marker));
        assert!(started.starts_with("background process 'web' is ready"), "{started}");
        assert!(tool(&mut client, "executeCommand", &json!({ "command": ASK })).contains("first"));
        // It serves what was edited later.
        let edit = json!({ "path": "page.txt", "content": "second\n" });
        let edited = tool(&mut client, "writeFile", &edit);
        assert!(edited.starts_with("page.txt: written, 7 bytes, +1 -1 lines, version "), "{edited}");
        let served = tool(&mut client, "executeCommand", &json!({ "command": ASK }));
        assert!(served.contains("second"), "{served}");
        let output = tool(&mut client, "readFile", &json!({ "path": "@process/web" }));
        assert!(output.contains("Listening on 8123\n") && output.contains("GET /page.txt"), "{output}");
        // The host and another client do not reach it.
        assert!(TcpStream::connect(("127.0.0.1", 8123)).is_err());
        let mut other = mcp(&project, &[]);
        let refused = tool(&mut other, "executeCommand", &json!({ "command": ASK }));
        assert!(refused.contains("refused"), "{refused}");
        assert!(tool(&mut other, "readFile", &json!({ "path": "@process/web" })).contains("FILE_NOT_FOUND"));
        other.end().ok();
        assert!(survivors(&marker) > 0, "another client's end is not this one's");
        let stopped = tool(&mut client, "stopProcess", &json!({ "name": "web" }));
        assert!(stopped.starts_with("'web' was stopped"), "{stopped}");
        all_gone(&marker);
        client.end().ok();
    }
}

#[test]
fn processes_are_listed_and_stopped_from_outside_and_end_with_their_client() {
    let project = Project::new();
    project.write("page.txt", "x\n");
    let (mine, theirs) = (marker("mine"), marker("theirs"));
    let mut owner = mcp(&project, &[]);
    let mut client = mcp(&project, &[]);
    tool(&mut owner, "executeCommand", &start(&mine));
    tool(&mut client, "executeCommand", &start(&theirs));
    let list = project.run(&["--json", "processes"]).ok().json();
    let names: Vec<_> =
        list.as_array().unwrap().iter().map(|one| (&one["name"], &one["isRunning"])).collect();
    assert_eq!(names, [(&json!("web"), &json!(true)); 2], "{list}");
    // The other client's processes end with it, and the owner's stay.
    assert!(survivors(&mine) > 0 && survivors(&theirs) > 0);
    client.kill();
    all_gone(&theirs);
    assert!(survivors(&mine) > 0);
    project
        .run(&["processes", "--stop", "nothing"])
        .exits(1)
        .says("no background process 'nothing' runs here");
    project.run(&["processes", "--stop", "web"]).ok().prints("stopped web of mcp-");
    all_gone(&mine);
    let news = tool(&mut owner, "stopProcess", &json!({ "name": "web" }));
    assert!(news.starts_with("'web' had ended"), "{news}");
    owner.end().ok();
}

#[test]
fn a_killed_daemon_leaves_none_and_says_so_to_the_client_of_the_next() {
    let project = Project::new();
    project.write("page.txt", "x\n");
    let (mine, theirs) = (marker("killed-mine"), marker("killed-theirs"));
    let mut owner = mcp(&project, &[]);
    tool(&mut owner, "executeCommand", &start(&mine));
    let mut client = mcp(&project, &[]);
    tool(&mut client, "executeCommand", &start(&theirs));
    assert!(survivors(&mine) > 0 && survivors(&theirs) > 0, "the control");
    owner.kill();
    all_gone(&mine);
    all_gone(&theirs);
    let gone = tool(&mut client, "stopProcess", &json!({ "name": "web" }));
    assert!(gone.contains("they end with their conversation and with agentd"), "{gone}");
    let again = tool(&mut client, "executeCommand", &start(&theirs));
    assert!(again.starts_with("background process 'web' is ready"), "{again}");
    client.end().ok();
    all_gone(&theirs);
}

#[test]
fn http_needs_a_conversation_and_llm4s_has_one() {
    let project = Project::new();
    project.write("page.txt", "page\n");
    let marker = marker("web");
    let mut host = WebServer::start(&project, &[]);
    let refused =
        host.call("executeCommand", &start(&marker)).fails(400, "INVALID_ARGUMENT", "INVALID_FIELD");
    assert!(refused.to_string().contains("agentd-conversation"), "{refused}");
    let mine = ["agentd-conversation: mine"];
    let started = host.call_as("executeCommand", &start(&marker), &mine).has_status(200).json();
    assert_eq!(started["background"], json!({ "name": "web", "state": "ready", "output": "@process/web" }));
    let served = host.call_as("executeCommand", &json!({ "command": ASK }), &mine).has_status(200).json();
    assert_eq!(served["stdout"], "page\n\n");
    let mut client = SocketClient::connect(&host);
    client.execute("other", ASK);
    assert!(!streamed(&client.until_completed("other"), "stdout").contains("page"));
    let llm4s = marker.replace("web", "llm4s");
    client.command("ExecuteCommand", "start", start(&llm4s));
    client.until_completed("start");
    client.execute("ask", ASK);
    assert!(streamed(&client.until_completed("ask"), "stdout").contains("page"));
    assert!(survivors(&llm4s) > 0);
    drop(client);
    all_gone(&llm4s);
    assert!(survivors(&marker) > 0, "the named conversation continues");
    host.interrupt();
    all_gone(&marker);
}

/// In this era each request is a separate client, except for its commands and what they leave running.
#[test]
fn mcp_without_sessions_keeps_what_a_request_leaves_running() {
    let project = Project::new();
    project.write("page.txt", "first\n");
    let marker = marker("stateless");
    let server = WebServer::start(&project, &[]);
    let call = |tool: &str, arguments: Value| {
        let params = json!({ "_meta": meta(&json!({})), "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let name = format!("Mcp-Name: {tool}");
        let lines = [
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "Mcp-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            &name,
        ];
        let answer = server.send("POST", "/mcp", &lines, body.to_string().as_bytes()).has_status(200);
        answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let started = call("executeCommand", start(&marker));
    assert!(started.starts_with("background process 'web' is ready"), "{started}");
    assert!(call("executeCommand", json!({ "command": ASK })).contains("first"));
    assert!(call("readFile", json!({ "path": "@process/web" })).contains("GET /page.txt"));
    let stopped = call("stopProcess", json!({ "name": "web" }));
    assert!(stopped.starts_with("'web' was stopped"), "{stopped}");
    all_gone(&marker);
    call("executeCommand", start(&marker));
    drop(server);
    all_gone(&marker);
}

#[test]
fn a_single_call_starts_none() {
    let project = Project::new();
    let marker = marker("call");
    project.run(&["call", "executeCommand", &start(&marker).to_string()]).exits(1).prints("single call");
    assert_eq!(survivors(&marker), 0);
}

#[test]
fn replies_with_tags_start_read_and_stop_a_server() {
    let project = Project::new();
    project.write("page.txt", "page\n");
    let marker = marker("tags");
    // One process has to live between two replies.
    let host = WebServer::start(&project, &[]);
    let id = project.begin_with(&["new", "--no-wait", "--json", "serve"]);
    let reply = format!(
        "[RUN_COMMAND background=\"web\" ready=\"Listening on\"]\n{}\n[/RUN_COMMAND]\n[RUN_COMMAND]\n{ASK}\n[/RUN_COMMAND]\n\
         [READ_FILE path=\"@process/web\"]\n",
        server(&marker)
    );
    project.apply(&reply, &[]);
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("in the background as 'web' (ready)"), "{outbox}");
    assert!(outbox.contains("GET /page.txt"), "{outbox}");
    assert!(!outbox.contains("ends with this reply"), "{outbox}");
    assert!(survivors(&marker) > 0);
    project.apply(
        "[RUN_COMMAND]\necho still: $(cat page.txt)\n[/RUN_COMMAND]\n[STOP_PROCESS name=\"web\"]\n",
        &[],
    );
    assert!(
        project.outbox(&id, 3).contains("[OK] STOP_PROCESS: Stopped 'web'"),
        "{}",
        project.outbox(&id, 3)
    );
    all_gone(&marker);
    // What still runs ends with the session.
    project.apply(&format!("Once more.\n{reply}"), &[]);
    assert!(survivors(&marker) > 0);
    project.apply("[DONE]\nserved\n[/DONE]\n", &[]);
    all_gone(&marker);
    // A chat that continues it reads what became of the server.
    let next = project.begin_with(&["new", "--no-wait", "--json", "--from", &id, "go on"]);
    let work = project.outbox(&next, 1);
    assert!(work.contains("`: started in the background as 'web'"), "{work}");
    assert!(work.contains("`stop background process web`: stopped (exit code 143)"), "{work}");
    let log = project.run(&["log"]).ok().stdout;
    assert!(log.lines().any(|line| line == "  stop background process web"), "no failure: {log}");
    drop(host);
}

#[test]
fn a_reply_reads_why_the_process_of_an_earlier_one_is_gone() {
    let project = Project::new();
    let marker = marker("alone");
    let id = project.begin_with(&["new", "--no-wait", "--json", "serve"]);
    // Nothing keeps it: each reply is carried out by a process that ends with it.
    project.apply(
        &format!(
            "[RUN_COMMAND background=\"web\" ready=\"Listening on\"]\n{}\n[/RUN_COMMAND]\n",
            server(&marker)
        ),
        &[],
    );
    assert_eq!(survivors(&marker), 0);
    let outbox = project.outbox(&id, 2);
    assert!(
        outbox.contains("'web' ends with this reply, because no agentd stays in this folder"),
        "{outbox}"
    );
    project.apply("[READ_FILE path=\"@process/web\"]\n", &[]);
    let outbox = project.outbox(&id, 3);
    let why = "there is no background process 'web': this conversation has none; they end with their conversation and with agentd";
    assert!(outbox.contains(why) && outbox.contains("start it again"), "{outbox}");
}
