//! Several processes on one state folder: the first owns it, the others ask it and take over when it goes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::fixture::at_once::at_once;
use crate::fixture::daemon::{Daemon, PATIENCE, eventually};
use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, is_root};
use crate::fixture::web_server::WebServer;

fn wap(project: &Project) -> LineClient {
    let mut client = LineClient::start(project.command(&["wap"]));
    // From here on it owns the state folder or is connected to the owner.
    client.does("getWorkspaceInfo", json!({}));
    client
}

fn replace(line: u64, text: &str) -> Value {
    let operation = json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": text });
    json!({ "path": "a.txt", "operations": [operation] })
}

fn append(line: &str) -> Value {
    json!({ "path": "log.txt", "content": format!("{line}\n"), "mode": "append" })
}

#[test]
fn a_second_process_works_through_the_first() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    let mut first = wap(&project);
    let mut second = wap(&project);
    assert_eq!(second.does("readFile", json!({ "path": "a.txt" }))["content"], "one\ntwo\n");
    second.does("modifyFile", replace(2, "TWO"));
    let ran = second.does("executeCommand", json!({ "command": "cat a.txt; echo err >&2" }));
    assert_eq!((&ran["stdout"], &ran["stderr"]), (&json!("one\nTWO\n"), &json!("err\n")));
    let failed = second.ask("readFile", json!({ "path": "nothing" }));
    assert_eq!(failed["error"]["data"]["details"]["reason"], "FILE_NOT_FOUND");
    first.does("writeFile", append("first"));
    // One journal knows of both.
    let log = project.run(&["log"]).ok();
    assert!(log.stdout.contains("log.txt") && log.stdout.contains("a.txt"), "{log}");
    second.end().ok();
    first.end().ok();
}

#[test]
fn one_that_is_called_from_a_shell_works_through_the_owner_too() {
    let project = Project::new();
    let first = wap(&project);
    project.run(&["call", "writeFile", r#"{"path":"b.txt","content":"b\n"}"#]).ok();
    let ran = project.run(&["call", "executeCommand", r#"{"command":"cat b.txt"}"#]).ok().json();
    assert_eq!(ran["stdout"], "b\n");
    project.run(&["undo"]).ok().prints("removed").prints("b.txt");
    assert!(!project.has("b.txt"));
    let nothing = project.run(&["undo"]).exits(1);
    assert!(nothing.stderr.contains("nothing to undo"), "{nothing}");
    project.run(&["undo", "99"]).exits(2).says("there is no change 99");
    first.end().ok();
}

#[test]
fn a_session_that_waits_is_an_owner_like_any_other() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["new", "a session"]));
    daemon.wait_until_it_waits();
    let mut client = wap(&project);
    client.does("writeFile", append("from the side"));
    assert_eq!(
        client.does("executeCommand", json!({ "command": "cat log.txt" }))["stdout"],
        "from the side\n"
    );
    daemon.interrupt().exits(130);
    client.does("writeFile", append("alone"));
    assert_eq!(project.read("log.txt"), "from the side\nalone\n");
}

#[test]
fn an_owner_that_was_stopped_is_noticed_and_keeps_the_folder() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    // Dropping it kills it, stopped or not.
    let mut owner = wap(&project);
    let mut other = wap(&project);
    let owner_process = Pid::from_raw(owner.process_id().cast_signed());
    kill(owner_process, Signal::SIGSTOP).unwrap();
    // Both at once: a call that is on its way, and those of newcomers.
    let id = other.request("writeFile", append("while it was stopped"));
    let undo = project.run(&["undo"]).exits(5);
    undo.says(&format!("process {owner_process} is using the state folder")).says("does not answer");
    let arguments = r#"{"path":"b.txt","content":""}"#;
    // What keeps `call` from calling at all is a matter of its usage.
    project.run(&["call", "writeFile", arguments]).exits(2).says("does not answer");
    project.run(&["wap"]).exits(5).says("does not answer");
    let answer = other.answer(id);
    let error = &answer["error"];
    assert_eq!(error["data"]["details"]["reason"], "BUSY", "{answer}");
    assert!(error["message"].as_str().unwrap().contains("does not answer"), "{answer}");
    assert!(!error.to_string().contains(project.folder().to_str().unwrap()), "{answer}");
    // No other process became the owner: when it continues, it is the owner as before, and the client's calls succeed again.
    kill(owner_process, Signal::SIGCONT).unwrap();
    eventually("the client is answered again", || {
        other.ask("readFile", json!({ "path": "a.txt" }))["error"].is_null()
    });
    owner.does("modifyFile", replace(2, "TWO"));
    assert_eq!(other.does("readFile", json!({ "path": "a.txt" }))["content"], "one\nTWO\n");
    other.end().ok();
    owner.end().ok();
}

#[test]
fn a_client_that_reads_no_diagnostics_is_answered_all_the_same() {
    let project = Project::new();
    let owner = wap(&project);
    let mut other = wap(&project);
    let owner_process = Pid::from_raw(owner.process_id().cast_signed());
    kill(owner_process, Signal::SIGSTOP).unwrap();
    // Each of these failures is also reported on standard error, which is a pipe that the test reads at the end only.
    let mut is_refused = || {
        let answer = other.ask("readFile", json!({ "path": "a.txt" }));
        answer["error"]["data"]["details"]["reason"] == "BUSY"
    };
    // The signal may come while the owner still answers a call.
    eventually("the owner is silent", &mut is_refused);
    for number in 0..500 {
        assert!(is_refused(), "{number}");
    }
    kill(owner_process, Signal::SIGCONT).unwrap();
    eventually("the client is answered again", || !is_refused());
    other.end().ok();
}

#[test]
fn a_stopped_owner_that_is_killed_is_followed_by_another() {
    let project = Project::new();
    let mut owner = wap(&project);
    let mut other = wap(&project);
    kill(Pid::from_raw(owner.process_id().cast_signed()), Signal::SIGSTOP).unwrap();
    let id = other.request("writeFile", append("once"));
    owner.kill();
    assert!(other.answer(id)["error"].is_null());
    assert_eq!(project.read("log.txt"), "once\n");
    other.end().ok();
}

#[test]
fn cancelling_does_not_wait_for_a_stopped_owner() {
    let project = Project::new();
    let owner = wap(&project);
    let server = WebServer::start(&project, &["--no-token"]);
    server.does("getWorkspaceInfo", &json!({}));
    kill(Pid::from_raw(owner.process_id().cast_signed()), Signal::SIGSTOP).unwrap();
    // More than the socket takes, so that the sender blocks; and then the client ends.
    let large = json!({ "path": "large", "content": "x".repeat(8 << 20) }).to_string();
    for _ in 0..3 {
        let mut stream = server.connect();
        let head = server.head("POST", "/v1/tools/writeFile", &["Content-Type: application/json"]);
        let length = large.len();
        stream.write_all(format!("{head}Content-Length: {length}\r\n\r\n{large}").as_bytes()).unwrap();
    }
    for _ in 0..20 {
        server.get("/healthz").has_status(200);
        server.get("/metrics").has_status(200);
    }
    server.call("readFile", &json!({ "path": "large" })).fails(503, "EXECUTION_FAILED", "BUSY");
    drop(owner);
}

#[test]
fn an_owner_that_takes_long_is_not_taken_to_be_gone() {
    let project = Project::new();
    let owner = wap(&project);
    let mut other = wap(&project);
    // Longer than an owner may be silent; it says nothing of this command meanwhile.
    let command = json!({ "command": "sleep 18; echo done", "timeout": 60_000 });
    assert_eq!(other.does("executeCommand", command)["stdout"], "done\n");
    other.end().ok();
    owner.end().ok();
}

#[test]
fn when_the_owner_is_killed_the_others_go_on() {
    let project = Project::new();
    let mut owner = wap(&project);
    let mut others = [wap(&project), wap(&project)];
    owner.does("writeFile", append("0"));
    owner.kill();
    for (index, other) in others.iter_mut().enumerate() {
        other.does("writeFile", append(&format!("{}", index + 1)));
    }
    // One of them owns it now, the other asks it; and that one again is asked by newcomers.
    wap(&project).does("writeFile", append("3"));
    assert_eq!(project.read("log.txt"), "0\n1\n2\n3\n");
}

#[test]
fn a_call_on_its_way_when_the_owner_is_killed_is_done_once() {
    let project = Project::new();
    for round in 0..5 {
        let mut owner = wap(&project);
        let mut other = wap(&project);
        // Many at once, so that some are on their way at any moment.
        let ids: Vec<_> =
            (0..40).map(|number| other.request("writeFile", append(&format!("{round}-{number}")))).collect();
        if round > 0 {
            eventually("some are done", || {
                project.has("log.txt") && project.read("log.txt").contains(&format!("{round}-"))
            });
        }
        owner.kill();
        for id in ids {
            assert!(other.answer(id)["error"].is_null());
        }
        other.end().ok();
    }
    let text = project.read("log.txt");
    let mut lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 200);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 200, "none twice, none lost");
}

/// Asks the owner to undo something, and answers with what it says.
fn ask_to_undo(project: &Project, request: &Value, digest: &str) -> Value {
    let mut stream = raw_client(project);
    let origin = json!({ "conversation": "undo", "run": { "sequence": 0, "digest": digest }, "step": 0 });
    let params = json!({ "request": request, "origin": origin });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "agentd/undo", "params": params });
    writeln!(stream, "{call}").unwrap();
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn an_undo_that_is_asked_for_again_after_its_owner_was_killed_is_done_once() {
    // The socket of an owner that was killed cannot be read as a file.
    let files = |project: &Project| ["a", "gone", "new/deep/file"].map(|name| project.written(name));
    let (project, id) = crate::session::undo::edited();
    let last = crate::session::undo::changes(&project).last().unwrap()["change"].as_u64().unwrap();
    let session = json!({ "session": id });
    for (number, request) in
        [json!({}), json!({ "reply": true }), json!({ "change": last }), session].iter().enumerate()
    {
        let digest = format!("undo {number}");
        let before = files(&project);
        let mut owner = wap(&project);
        let first = ask_to_undo(&project, request, &digest);
        assert!(first["result"]["Ok"].is_object(), "{request}: {first}");
        let undone = files(&project);
        assert_ne!(undone, before, "{request}");
        owner.kill();
        // A client whose owner is gone makes the same call to the next one.
        let owner = wap(&project);
        assert_eq!(ask_to_undo(&project, request, &digest), first, "{request}");
        assert_eq!(files(&project), undone, "{request}: something else was undone as well");
        owner.end().ok();
        // Back to where it was, for the next round.
        let by = first["result"]["Ok"]["taken_back_by"].to_string();
        project.run(&["undo", &by]).ok();
        assert_eq!(files(&project), before, "{request}");
    }
}

#[test]
fn a_command_whose_owner_was_killed_is_not_run_again() {
    let project = Project::new();
    let mut owner = wap(&project);
    let mut other = wap(&project);
    let id = other
        .request("executeCommand", json!({ "command": "echo ran >> ran.txt; sleep 20", "timeout": 60_000 }));
    eventually("the command runs", || project.written("ran.txt").is_some_and(|text| !text.is_empty()));
    owner.kill();
    let answer = other.answer(id);
    assert_eq!(answer["error"]["data"]["details"]["reason"], "OUTCOME_UNKNOWN", "{answer}");
    assert_eq!(project.written("ran.txt"), None, "it was run again, or adopted");
    assert_eq!(other.does("executeCommand", json!({ "command": "echo on" }))["stdout"], "on\n");
}

#[test]
fn an_owner_that_leaves_lets_the_commands_of_others_end() {
    let project = Project::new();
    let mut owner = wap(&project);
    let mut other = wap(&project);
    let id = other.request("executeCommand", json!({ "command": "touch begun; sleep 1; echo done" }));
    eventually("the command runs", || project.written("begun").is_some());
    owner.close_input();
    // A command that comes while it leaves is run by the next one.
    let next = other.request("executeCommand", json!({ "command": "echo next" }));
    assert_eq!(other.answer(id)["result"]["stdout"], "done\n");
    assert_eq!(other.answer(next)["result"]["stdout"], "next\n");
    owner.end().ok();
}

#[test]
fn an_owner_that_leaves_fails_no_call_of_others() {
    let project = Project::new();
    for round in 0..5 {
        let mut owner = wap(&project);
        let mut other = wap(&project);
        let ids: Vec<_> =
            (0..60).map(|number| other.request("writeFile", append(&format!("{round}-{number}")))).collect();
        owner.close_input();
        for id in ids {
            let answer = other.answer(id);
            assert!(answer["error"].is_null(), "{answer}");
        }
        owner.end().ok();
        other.end().ok();
    }
    assert_eq!(project.read("log.txt").lines().count(), 300);
}

#[test]
fn the_command_of_a_client_that_was_killed_is_ended() {
    let project = Project::new();
    let mut owner = wap(&project);
    let mut other = wap(&project);
    other.request(
        "executeCommand",
        json!({ "command": "touch begun; sleep 30; touch ended", "timeout": 60_000 }),
    );
    eventually("the command runs", || project.written("begun").is_some());
    other.kill();
    // Commands queue: this one has its turn because the other one is gone.
    assert_eq!(owner.does("executeCommand", json!({ "command": "echo free" }))["stdout"], "free\n");
    assert!(!project.has("ended"));
}

#[test]
fn cancelling_reaches_a_command_that_another_process_runs() {
    let project = Project::new();
    let _owner = wap(&project);
    let mut other = wap(&project);
    let id = other.request(
        "executeCommand",
        json!({ "command": "touch begun; sleep 30; touch ended", "timeout": 60_000 }),
    );
    eventually("the command runs", || project.written("begun").is_some());
    other.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(other.answer(id)["error"]["code"], -32_800);
    assert!(!project.has("ended"));
}

#[test]
fn two_clients_that_edit_one_file_lose_nothing() {
    let project = Project::new();
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    project.write("a.txt", &text);
    let mut clients = [wap(&project), wap(&project)];
    for client in &mut clients {
        client.does("readFile", json!({ "path": "a.txt" }));
    }
    // Each in its own half, with numbers as it has read them, while the other makes its half longer.
    for round in 0..10 {
        let [first, second] = &mut clients;
        let one = first.request("modifyFile", replace(20 - round, &format!("first {round}\nmore")));
        let two = second.request("modifyFile", replace(40 - round, &format!("second {round}\nmore")));
        for (client, id) in [(first, one), (second, two)] {
            let answer = client.answer(id);
            assert!(answer["error"].is_null(), "{answer}");
            client.does("readFile", json!({ "path": "a.txt" }));
        }
    }
    let mut text = project.read("a.txt");
    for round in 0..10 {
        for who in ["first", "second"] {
            assert!(text.contains(&format!("{who} {round}\nmore\n")), "{who} {round}:\n{text}");
        }
    }
    text.retain(|character| character == '\n');
    assert_eq!(text.len(), 60);
}

#[test]
fn commands_of_one_workspace_queue() {
    let project = Project::new();
    let mut clients = [wap(&project), wap(&project), wap(&project)];
    let command = "mkdir busy || echo overlap >> overlap.txt; sleep 0.05; rmdir busy";
    let mut ids = Vec::new();
    for _ in 0..3 {
        for client in &mut clients {
            ids.push(client.request("executeCommand", json!({ "command": command })));
        }
    }
    for (index, id) in ids.into_iter().enumerate() {
        assert_eq!(clients[index % 3].answer(id)["result"]["exitCode"], 0);
    }
    assert!(!project.has("overlap.txt"));
}

#[test]
fn an_owner_that_does_not_answer_is_named() {
    let project = Project::new();
    let owner = wap(&project);
    let process = Pid::from_raw(owner.process_id().cast_signed());
    kill(process, Signal::SIGSTOP).unwrap();
    let held = format!("process {} is using the state folder", owner.process_id());
    let calls: [(&[&str], i32); 3] =
        [(&["undo"], 5), (&["wap"], 5), (&["call", "writeFile", r#"{"path":"a","content":"b"}"#], 2)];
    at_once(&calls, |(arguments, code)| drop(project.run(arguments).exits(*code).says(&held)));
    // What only reads needs no owner.
    project.run(&["call", "exploreFiles", r#"{"path":"."}"#]).ok();
    kill(process, Signal::SIGCONT).unwrap();
    assert!(!project.has("a"));
}

#[test]
fn an_owner_with_other_confinement_runs_nothing_for_others() {
    let project = Project::new();
    let _owner = wap(&project);
    let mut other = LineClient::start(project.command(&["wap", "--network", "on"]));
    let refused = other.ask("executeCommand", json!({ "command": "touch ran" }));
    assert_eq!(refused["error"]["data"]["details"]["reason"], "SANDBOX_UNAVAILABLE", "{refused}");
    assert!(!project.has("ran"));
    other.does("writeFile", append("files are independent"));
}

#[test]
fn a_read_only_client_of_another_owner_stays_read_only() {
    let project = Project::new();
    let _owner = wap(&project);
    let mut other = LineClient::start(project.command(&["wap", "--read-only"]));
    for (tool, params) in [("writeFile", append("x")), ("executeCommand", json!({ "command": "touch a" }))] {
        assert_eq!(other.ask(tool, params)["error"]["data"]["details"]["reason"], "READ_ONLY");
    }
    project.run(&["undo", "--read-only"]).exits(4);
}

#[test]
fn a_state_folder_of_another_workspace_is_refused() {
    let project = Project::with_base_outside();
    let _owner = wap(&project);
    let other = Project::with_base(&project.base());
    other.run(&["wap"]).exits(5).says("another workspace");
}

#[test]
fn the_socket_is_closed_to_others_and_goes_with_its_owner() {
    let project = Project::new();
    let owner = wap(&project);
    let socket = project.base().join("agentd.sock");
    assert_eq!(fs::symlink_metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    owner.end().ok();
    assert!(!socket.exists());
}

#[test]
fn a_state_folder_with_a_long_path_has_its_socket_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut long = folder.path().to_owned();
    for _ in 0..8 {
        long.push("a-folder-with-a-rather-long-name-indeed");
    }
    fs::create_dir_all(&long).unwrap();
    let project = Project::with_base(&long.join("state"));
    let _owner = wap(&project);
    wap(&project).does("writeFile", append("x"));
    assert_eq!(project.read("log.txt"), "x\n");
}

/// A client of the owner that sends given messages, and reads only on request.
fn raw_client(project: &Project) -> UnixStream {
    let mut stream = UnixStream::connect(project.base().join("agentd.sock")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let workspace = project.workspace().canonicalize().unwrap();
    let hello = json!({ "version": 7, "workspace": workspace, "confinement": {} });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "agentd/hello", "params": hello });
    writeln!(stream, "{hello}").unwrap();
    let mut welcome = String::new();
    BufReader::new(&stream).read_line(&mut welcome).unwrap();
    assert!(welcome.contains("processId"), "{welcome}");
    stream
}

#[test]
fn a_client_that_reads_no_answers_delays_no_other() {
    let project = Project::new();
    project.write("big.txt", &"a line of a big file\n".repeat(40_000));
    let mut owner = wap(&project);
    let mut other = wap(&project);
    let mut stopped = raw_client(&project);
    let origin = json!({ "conversation": "stopped", "run": { "sequence": 0, "digest": "d" }, "step": 0 });
    // More than the socket holds, by more calls than there are threads.
    const CALLS: u64 = 12;
    for id in 1..=CALLS {
        let params = json!({ "request": { "path": "big.txt" }, "origin": origin, "timeLeftMs": null });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "readFile", "params": params });
        writeln!(stopped, "{call}").unwrap();
    }
    // It would be given up after 30 seconds, and what it holds up would go on then.
    let began = Instant::now();
    for _ in 0..3 {
        other.does("readFile", json!({ "path": "big.txt" }));
        other.does("executeCommand", json!({ "command": "echo on" }));
        owner.does("writeFile", append("on"));
    }
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
    // The control: its answers are there.
    let mut answers = BufReader::new(stopped).lines();
    for _ in 1..=CALLS {
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert!(answer["result"]["content"].as_str().is_some_and(|text| text.len() > 800_000), "{answer}");
    }
}

#[test]
fn nonsense_at_the_socket_ends_that_connection_only() {
    let project = Project::new();
    let mut owner = wap(&project);
    let mut other = wap(&project);
    let megabyte = vec![b'x'; 1 << 20];
    for nonsense in [&b"nonsense\n"[..], b"\xff\xfe\n", b"[]\n", &megabyte] {
        let mut stream = raw_client(&project);
        // As long as it is taken.
        let rounds = if nonsense.len() > 100 { 100 } else { 1 };
        for _ in 0..rounds {
            if stream.write_all(nonsense).is_err() {
                break;
            }
        }
        // A line that is too long is read to its end, and not held.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    }
    other.does("writeFile", append("on"));
    owner.does("writeFile", append("on"));
}

#[test]
fn when_the_owner_is_killed_every_kind_of_client_goes_on() {
    let project = Project::new();
    let mut owner = wap(&project);
    let server = WebServer::start(&project, &[]);
    let mut mcp = LineClient::start(project.command(&["mcp"]));
    mcp.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    mcp.notify("notifications/initialized", json!({}));
    let mut line = |text: &str| {
        let result = mcp.does("tools/call", json!({ "name": "writeFile", "arguments": append(text) }));
        assert_eq!(result["isError"], false, "{result}");
    };
    line("mcp");
    server.does("writeFile", &append("http"));
    owner.does("writeFile", append("lines"));
    owner.kill();
    // Each of them asks at the same time, and one of them owns it then.
    std::thread::scope(|scope| {
        scope.spawn(|| server.does("writeFile", &append("http again")));
        line("mcp again");
    });
    line("mcp at last");
    server.does("writeFile", &append("http at last"));
    let text = project.read("log.txt");
    let mut lines: Vec<_> = text.lines().collect();
    lines[3..5].sort_unstable();
    let expected = ["mcp", "http", "lines", "http again", "mcp again", "mcp at last", "http at last"];
    assert_eq!(lines, expected);
}

#[test]
fn another_user_is_not_let_in() {
    if !is_root() {
        // Only root can become two users; run as root, this test does it.
        eprintln!("skipped: needs root to be two users");
        return;
    }
    let project = Project::new().of_an_ordinary_user();
    let mut owner = wap(&project);
    let base = project.base();
    // Even with every permission opened.
    for path in [project.folder().to_owned(), project.workspace(), base.clone(), base.join("agentd.sock")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let connects = |user: u32| {
        let script = "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.settimeout(10)\ns.connect(sys.argv[1])\ns.sendall(sys.argv[2].encode()+b'\\n')\nsys.exit(0 if b'result' in s.recv(1000) else 7)";
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "agentd/hello", "params": {
            "version": 7, "workspace": project.workspace().canonicalize().unwrap(), "confinement": {} } });
        let mut python = std::process::Command::new("python3");
        python.arg("-c").arg(script).arg(base.join("agentd.sock")).arg(hello.to_string());
        python.stderr(std::process::Stdio::null()).uid(user).gid(user).status().unwrap().success()
    };
    assert!(connects(1_000), "its own user is let in");
    assert!(!connects(1_001), "another user is not");
    owner.does("getWorkspaceInfo", json!({}));
}
