//! `agentd wap`: the tools over JSON-RPC lines.

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::memory::own_kib;
use crate::fixture::project::Project;

fn start(project: &Project) -> LineClient {
    LineClient::start(project.command(&["wap"]))
}

/// A command that says when it runs, and would leave a trace if it were not stopped.
fn long_command(name: &str) -> Value {
    json!({ "command": format!("touch {name}.begun; sleep 30; touch {name}.ended"), "timeout": 60_000 })
}

#[test]
fn a_client_reads_edits_runs_and_searches() {
    let project = Project::new();
    project.write("src/a.txt", "one\ntwo\nthree\n");
    let mut client = start(&project);
    let read = client.does("readFile", json!({ "path": "src/a.txt" }));
    assert_eq!(read["content"], "one\ntwo\nthree\n");
    // The native dialect: absolute, as the document says.
    let absolute = project.workspace().canonicalize().unwrap().join("src/a.txt");
    assert_eq!(read["metadata"]["path"], absolute.to_str().unwrap());
    let operation = json!({ "type": "replace", "startLine": 2, "endLine": 2, "newContent": "TWO" });
    client.does("modifyFile", json!({ "path": "src/a.txt", "operations": [operation] }));
    let ran = client.does("executeCommand", json!({ "command": "cat src/a.txt; exit 3" }));
    assert_eq!((&ran["stdout"], &ran["exitCode"]), (&json!("one\nTWO\nthree\n"), &json!(3)));
    let answer = client.does("searchFiles", json!({ "paths": ["."], "query": "TWO", "type": "literal" }));
    assert_eq!(answer["matches"][0]["line"], 2);
    assert_eq!(client.does("exploreFiles", json!({ "path": "" }))["files"][0]["path"], "src");
    client.does("deleteFile", json!({ "path": "src/a.txt" }));
    assert!(client.does("getWorkspaceInfo", Value::Null)["limits"].is_object());
    assert_eq!(client.end().ok().stdout, "");
    assert!(!project.has("src/a.txt"));
}

#[test]
fn arguments_that_a_tool_does_not_know_are_named() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = start(&project);
    let read = client.does("readFile", json!({ "path": "a.txt", "encoding": "latin1" }));
    assert_eq!(read["warnings"], json!(["unknown argument 'encoding' was ignored"]));
    assert!(client.does("readFile", json!({ "path": "a.txt" })).get("warnings").is_none());
    let error = client.ask("readFile", json!({ "file": "a.txt" }));
    assert_eq!(error["error"]["data"]["details"]["unknownArguments"], json!(["file"]), "{error}");
    client.end().ok();
    let called = project.run(&["call", "readFile", r#"{"path": "a.txt", "encoding": "latin1"}"#]).ok();
    assert!(called.stdout.contains("unknown argument 'encoding' was ignored"), "{called:?}");
}

#[test]
fn failures_carry_the_error_object() {
    let project = Project::new();
    let mut client = start(&project);
    let cases = [
        ("readFile", json!({ "path": "missing" }), -32_000, "FILE_NOT_FOUND", "FILE_NOT_FOUND"),
        ("readFile", json!({ "path": "../x" }), -32_000, "PERMISSION_DENIED", "PATH_ESCAPE_ATTEMPT"),
        ("readFile", json!({ "path": "a", "startLine": "3" }), -32_602, "INVALID_ARGUMENT", "INVALID_FIELD"),
        ("readFile", json!(["a"]), -32_602, "INVALID_ARGUMENT", "INVALID_FIELD"),
        ("moveFile", json!({}), -32_601, "INVALID_ARGUMENT", "UNKNOWN_TOOL"),
    ];
    for (tool, params, code, wap_code, reason) in cases {
        let answer = client.ask(tool, params);
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{answer}");
        assert_eq!(error["data"]["code"], wap_code, "{answer}");
        assert_eq!(error["data"]["details"]["reason"], reason, "{answer}");
        assert_eq!(error["message"], error["data"]["error"], "{answer}");
    }
    let field = client.ask("readFile", json!({ "path": "a", "startLine": "3" }));
    assert_eq!(field["error"]["data"]["details"]["field"], "startLine");
}

#[test]
fn what_is_no_message_is_refused_and_the_next_one_answered() {
    let project = Project::new();
    project.write("a", "text\n");
    let mut client = start(&project);
    let cases: [(&[u8], Value, i64); 8] = [
        (b"{\"jsonrpc\"", Value::Null, -32_700),
        (b"\xff\xfe", Value::Null, -32_700),
        (b"[]", Value::Null, -32_600),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"readFile\",\"params\":{\"path\":\"a\"}}]",
            Value::Null,
            -32_600,
        ),
        (b"5", Value::Null, -32_600),
        (b"{\"id\":7,\"method\":\"readFile\"}", json!(7), -32_600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"readFile\"}", Value::Null, -32_600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":5}", json!("x"), -32_600),
    ];
    for (line, id, code) in cases {
        client.send_bytes(line);
        client.send_bytes(b"\n");
        let answer = client.next();
        let excerpt = String::from_utf8_lossy(line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{excerpt}: {answer}");
    }
    // Empty lines are nothing at all.
    client.send_bytes(b"\n  \n\r\n");
    assert_eq!(client.does("readFile", json!({ "path": "a" }))["content"], "text\n");
    assert!(client.is_silent());
}

#[test]
fn a_huge_line_is_refused_and_not_held() {
    let project = Project::new();
    project.write("a", "text\n");
    let mut client = start(&project);
    assert_eq!(client.does("readFile", json!({ "path": "a" }))["content"], "text\n");
    let before = own_kib(client.process_id());
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        client.send_bytes(&piece);
    }
    client.send_bytes(b"\n");
    let answer = client.next();
    assert_eq!(answer["error"]["data"]["code"], "SIZE_LIMIT_EXCEEDED", "{answer}");
    assert_eq!(client.does("readFile", json!({ "path": "a" }))["content"], "text\n");
    let after = own_kib(client.process_id());
    assert!(after < before + (16 << 10), "{before} KiB, then {after} KiB");
}

#[test]
fn quick_calls_are_answered_while_a_command_runs() {
    let project = Project::new();
    project.write("a", "text\n");
    let mut client = start(&project);
    let slow = client.request("executeCommand", long_command("slow"));
    eventually("the command runs", || project.written("slow.begun").is_some());
    assert_eq!(client.does("readFile", json!({ "path": "a" }))["content"], "text\n");
    client.notify("$/cancelRequest", json!({ "id": slow }));
    let answer = client.answer(slow);
    assert_eq!(answer["error"]["code"], -32_800, "{answer}");
    assert_eq!(answer["error"]["data"]["details"]["reason"], "CANCELLED", "{answer}");
    // Cancelling a call that does not run is not an error.
    client.notify("$/cancelRequest", json!({ "id": slow }));
    client.notify("$/cancelRequest", json!({}));
    assert!(client.is_silent());
    assert_eq!(client.end().ok().stdout, "");
    assert!(!project.has("slow.ended"));
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let project = Project::new();
    project.write("a", "text\n");
    let mut client = start(&project);
    let mut ids: Vec<u64> = (0..300).map(|_| client.request("readFile", json!({ "path": "a" }))).collect();
    ids.extend(
        (0..12)
            .map(|number| client.request("executeCommand", json!({ "command": format!("echo {number}") }))),
    );
    for id in ids {
        assert!(client.answer(id)["error"].is_null());
    }
}

#[test]
fn the_id_of_a_running_call_cannot_be_used_again() {
    let project = Project::new();
    let mut client = start(&project);
    let id = client.request("executeCommand", long_command("slow"));
    eventually("the command runs", || project.written("slow.begun").is_some());
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "getWorkspaceInfo" }));
    assert_eq!(client.answer(id)["error"]["code"], -32_600);
    // Another type of id is another id.
    client.send(&json!({ "jsonrpc": "2.0", "id": id.to_string(), "method": "getWorkspaceInfo" }));
    assert!(client.next()["result"].is_object());
    client.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(client.answer(id)["error"]["code"], -32_800);
}

#[test]
fn a_notification_is_carried_out_and_not_answered() {
    let project = Project::new();
    let mut client = start(&project);
    client.notify("writeFile", json!({ "path": "a", "content": "x" }));
    client.notify("readFile", json!({ "path": 5 }));
    client.notify("nothing", json!({}));
    eventually("it is written", || project.written("a").is_some());
    assert!(client.is_silent());
}

#[test]
fn the_end_of_the_input_ends_commands_and_not_quick_calls() {
    let project = Project::new();
    project.write("a", "text\n");
    let mut client = start(&project);
    let slow = client.request("executeCommand", long_command("slow"));
    eventually("the command runs", || project.written("slow.begun").is_some());
    let read = client.request("readFile", json!({ "path": "a" }));
    client.close_input();
    assert_eq!(client.answer(read)["result"]["content"], "text\n");
    assert_eq!(client.answer(slow)["error"]["data"]["details"]["reason"], "CANCELLED");
    client.end().ok();
    assert!(!project.has("slow.ended"));
}

#[test]
fn a_client_that_is_gone_leaves_nothing_running() {
    let project = Project::new();
    let mut client = start(&project);
    client.does("getWorkspaceInfo", json!({}));
    client.request(
        "executeCommand",
        json!({ "command": "echo $$ > pid; touch begun; sleep 61.25", "timeout": 90_000 }),
    );
    eventually("the command runs", || project.written("begun").is_some());
    client.kill();
    eventually("it is gone", || !runs("61.25"));
}

/// Checks whether a process runs with this among its arguments.
fn runs(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|one| one == argument.as_bytes()))
}

#[test]
fn interrupting_it_stops_what_runs() {
    let project = Project::new();
    let mut client = start(&project);
    client.request("executeCommand", long_command("slow"));
    eventually("the command runs", || project.written("slow.begun").is_some());
    let process = nix::unistd::Pid::from_raw(client.process_id().cast_signed());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGTERM).unwrap();
    client.wait().exits(130);
    assert!(!project.has("slow.ended"));
}

#[test]
fn a_read_only_workspace_refuses_changes_and_commands() {
    let project = Project::new();
    let mut client = LineClient::start(project.command(&["wap", "--read-only"]));
    for (tool, params) in [
        ("writeFile", json!({ "path": "a", "content": "x" })),
        ("executeCommand", json!({ "command": "touch a" })),
    ] {
        assert_eq!(client.ask(tool, params)["error"]["data"]["details"]["reason"], "READ_ONLY");
    }
    assert!(!project.has("a"));
}

#[test]
fn a_single_call_describes_the_sandbox_as_a_server_does() {
    let project = Project::new();
    let served = |project: &Project| {
        let mut client = LineClient::start(project.command(&["wap"]));
        let info = client.does("getWorkspaceInfo", Value::Null);
        client.close_input();
        info["sandbox"].as_str().unwrap().to_owned()
    };
    let called = |project: &Project| {
        let info = project.run(&["call", "getWorkspaceInfo"]).ok().json();
        info["sandbox"].as_str().unwrap().to_owned()
    };
    // Before there is a state folder, which a question does not make, and with one.
    let first = called(&project);
    assert!(!project.base().exists(), "asking makes nothing");
    assert_eq!(first, served(&project));
    assert_eq!(called(&project), first);
}
