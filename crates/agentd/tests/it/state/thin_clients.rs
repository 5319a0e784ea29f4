//! Commands about sessions while another process owns the state folder: they go through that one.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::daemon::{Daemon, eventually};
use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, Ran};

/// A server that owns the state folder.
fn server(project: &Project, options: &[&str]) -> LineClient {
    let mut client = LineClient::start(project.command(&[&["wap"], options].concat()));
    client.does("getWorkspaceInfo", json!({}));
    client
}

const LOG: &str = "[RUN_COMMAND]\necho ran >> ran.log\n[/RUN_COMMAND]\n";

fn follow(project: &Project, arguments: &[&str]) -> (Daemon, String) {
    let mut daemon = Daemon::start(project.command(arguments));
    let line = daemon.wait_for("session ");
    daemon.wait_until_it_waits();
    let id = line.split_once("session ").unwrap().1[..8].to_owned();
    (daemon, id)
}

fn reply_to(id: &str, sequence: u32, text: &str) -> String {
    format!("Reply-To: {id}-{sequence}\n{text}")
}

#[test]
fn a_session_goes_through_a_server() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut owner = server(&project, &[]);
    let id = project.begin("a task");
    project.run(&["outbox"]).ok().prints("Task: a task");
    let reply =
        "[CREATE_FILE path=\"b.txt\"]\nnew\n[/CREATE_FILE]\n[RUN_COMMAND]\ncat a.txt b.txt\n[/RUN_COMMAND]\n";
    project.apply(reply, &["--dry-run"]).ok().prints("+new");
    assert!(!project.has("b.txt"));
    let applied = project.apply(reply, &["--json"]).ok().json();
    assert_eq!(applied["results"][1]["output"], "one\nnew\n", "{applied}");
    assert_eq!(applied["outbox"], json!(project.outbox_file(&id, 2).canonicalize().unwrap()));
    // The server and the session see the same files and one journal.
    assert_eq!(owner.does("readFile", json!({ "path": "b.txt" }))["content"], "new\n");
    project.run(&["undo", "--reply"]).ok().prints("b.txt");
    assert!(!project.has("b.txt"));
    project.run(&["gc", "--limit", "0"]).ok().prints("bytes of contents are kept");
    let (mut daemon, followed) = follow(&project, &["resume"]);
    assert_eq!(followed, id);
    project.put_reply("r.txt", LOG);
    daemon.wait_for("message 3 to copy");
    project.put_reply("s.txt", "[DONE]\nall done\n[/DONE]\n");
    let ended = daemon.wait().ok();
    assert!(ended.stderr.contains("done: all done"), "{ended}");
    assert_eq!(project.read("ran.log"), "ran\n");
    assert_eq!(project.names("inbox/processed"), ["r.txt", "s.txt"]);
    owner.end().ok();
}

#[test]
fn a_reply_that_is_applied_through_a_server_runs_once() {
    let project = Project::new();
    let _owner = server(&project, &[]);
    let id = project.begin("once");
    let reply = reply_to(&id, 1, LOG);
    let file = project.reply_file(&reply);
    let start = || {
        let mut command: Command = project.command(&["apply".as_ref(), file.as_os_str()]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..4).map(|_| start()).collect();
    let ran = started.into_iter().map(|child| Ran::of(child.wait_with_output().unwrap()));
    for ran in ran {
        // Another one may be executing it at this moment.
        assert!([0, 5].contains(&ran.code), "{ran}");
    }
    project.apply(&reply, &[]).ok().says("executed before");
    assert_eq!(project.read("ran.log"), "ran\n");
}

#[test]
fn a_server_that_is_killed_while_it_applies_a_reply_leaves_no_block_to_run_twice() {
    let project = Project::new();
    let mut owner = server(&project, &[]);
    project.begin("killed");
    let reply = format!("{LOG}[RUN_COMMAND]\necho ran >> second.log; sleep 60\n[/RUN_COMMAND]\n{LOG}");
    let file = project.reply_file(reply);
    let command = project.command(&["apply".as_ref(), file.as_os_str(), "--json".as_ref()]);
    let client = Daemon::start(command);
    eventually("the second command runs", || {
        project.written("second.log").is_some_and(|text| !text.is_empty())
    });
    owner.kill();
    let results = client.wait().ok().json()["results"].clone();
    let outputs: Vec<_> = (0..3).map(|block| results[block]["success"].as_bool().unwrap()).collect();
    assert_eq!(outputs, [true, false, true], "{results}");
    assert!(results[1].to_string().contains("UNKNOWN"), "{results}");
    // The first block once and the third once; of the second nothing, and it was not begun again.
    assert_eq!(project.read("ran.log"), "ran\nran\n");
    assert!(!project.has("second.log"));
    let changes = crate::session::undo::changes(&project);
    assert_eq!(changes.len(), 2, "{changes:?}");
}

#[test]
fn a_session_that_waits_goes_on_when_the_owner_is_killed() {
    let project = Project::new();
    let mut owner = server(&project, &[]);
    let (mut daemon, _) = follow(&project, &["new", "go on"]);
    owner.kill();
    project.put_reply("r.txt", LOG);
    daemon.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "ran\n");
    // It owns the folder now, and serves others.
    server(&project, &[]).does("executeCommand", json!({ "command": "true" }));
    daemon.interrupt().exits(130);
}

#[test]
fn each_of_two_sessions_that_wait_gets_its_own_replies() {
    let project = Project::new();
    let (mut first, first_id) = follow(&project, &["new", "first"]);
    let (mut second, second_id) = follow(&project, &["new", "second"]);
    let write = |name: &str| format!("[CREATE_FILE path=\"{name}\"]\n{name}\n[/CREATE_FILE]\n{LOG}");
    project.put_reply("1.txt", reply_to(&second_id, 1, &write("for-second")));
    second.wait_for("message 2 to copy");
    project.put_reply("2.txt", reply_to(&first_id, 1, &write("for-first")));
    first.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "ran\nran\n");
    assert!(project.has("for-first") && project.has("for-second"));
    // The session is ambiguous: a wrong guess would run it for the wrong model.
    project.put_reply("3.txt", write("unclaimed"));
    eventually("it is quarantined", || project.names("inbox/set-aside") == ["3.txt"]);
    assert!(!project.has("unclaimed"));
    // A session has one process that waits for its replies.
    project.run(&["resume", &first_id]).exits(5).says(&format!("waits for replies to session {first_id}"));
    second.interrupt().exits(130);
    // The control: with one that waits, such a reply is its own.
    project.put_reply("4.txt", write("for-the-only-one"));
    first.wait_for("message 3 to copy");
    assert!(project.has("for-the-only-one"));
    first.interrupt().exits(130);
}

#[test]
fn a_reply_to_a_session_that_was_left_waits_for_it_in_the_inbox() {
    let project = Project::new();
    let (mut first, first_id) = follow(&project, &["new", "first"]);
    let (mut second, _) = follow(&project, &["new", "second"]);
    first.kill();
    project.put_reply("1.txt", reply_to(&first_id, 1, LOG));
    second.wait_for(&format!("answers session {first_id}, for whose replies no process waits"));
    second.wait_for(&format!("`agentd resume {first_id}` executes it"));
    assert!(!project.has("ran.log"));
    let (mut first, _) = follow(&project, &["resume", &first_id]);
    first.wait_for("message 2 to copy");
    assert_eq!(project.read("ran.log"), "ran\n");
    first.interrupt().exits(130);
    second.interrupt().exits(130);
}

#[test]
fn options_that_the_owner_was_not_started_with_are_refused_and_named() {
    let project = Project::new();
    let mut owner = server(&project, &[]);
    project.begin("protected");
    let file = project.reply_file(LOG);
    let file = file.to_str().unwrap();
    let cache = project.folder().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let cache = cache.to_str().unwrap();
    let cases: [&[&str]; 7] = [
        &["--network", "on"],
        &["--layer", "off"],
        &["--sandbox", "allow=none"],
        &["--cache", cache],
        &["--protect", "*.log"],
        &["--ask-about", ".vscode"],
        &["--read-only"],
    ];
    for options in cases {
        let apply = project.run(&[&["apply", file], options].concat()).exits(4);
        assert!(apply.stderr.contains(&format!("started with another {}:", options[0])), "{apply}");
        assert!(apply.stderr.contains("agentd wap"), "{apply}");
        project.run(&[&["new", "--no-wait", "x"], options].concat()).exits(4);
    }
    let write = r#"{"path":"b.log","content":""}"#;
    let refused = project.run(&["call", "writeFile", write, "--protect", "*.log"]).exits(1);
    assert!(refused.stdout.contains("--protect"), "{refused}");
    let append = json!({ "path": "c.log", "content": "", "mode": "append" });
    let mut client = LineClient::start(project.command(&["wap", "--protect", "*.log"]));
    assert!(client.ask("writeFile", append.clone())["error"].to_string().contains("--protect"));
    assert!(["ran.log", "b.log", "c.log"].iter().all(|name| !project.has(name)));
    // The control: without them all of it is done.
    project.run(&["apply", file]).ok();
    project.run(&["call", "writeFile", write]).ok();
    owner.does("writeFile", append);
    assert!(["ran.log", "b.log", "c.log"].iter().all(|name| project.has(name)));
}

#[test]
fn an_owner_whose_commands_have_a_network_runs_none_for_a_session_without() {
    let project = Project::new();
    let _owner = server(&project, &["--network", "on"]);
    let file = project.reply_file(LOG);
    let file = file.to_str().unwrap();
    project.run(&["new", "--no-wait", "x"]).exits(4).says("--network");
    project.begin_with(&["new", "--no-wait", "--json", "x", "--network", "on"]);
    project.run(&["apply", file]).exits(4).says("--network");
    assert!(!project.has("ran.log"));
    project.run(&["apply", file, "--network", "on"]).ok();
    assert_eq!(project.read("ran.log"), "ran\n");
}

#[test]
fn a_review_is_asked_for_by_the_process_that_was_started_with_it() {
    let project = Project::new();
    let _owner = server(&project, &[]);
    project.begin("review");
    let refused = project.apply(LOG, &["--review"]).exits(4);
    // Standard input is not a terminal here, so the question cannot be answered.
    assert!(
        refused.stderr.contains("echo ran >> ran.log") && refused.stderr.contains("no terminal"),
        "{refused}"
    );
    assert!(!project.has("ran.log"));
    project.apply(LOG, &[]).ok();
    assert!(project.has("ran.log"));
}

#[test]
fn a_trial_says_what_to_do_while_a_server_runs() {
    let project = Project::new();
    let owner = server(&project, &[]);
    project.begin("trial");
    let held = project.apply(LOG, &["--try"]).exits(5);
    assert!(held.stderr.contains(&format!("process {} (agentd wap)", owner.process_id())), "{held}");
    assert!(held.stderr.contains("--dry-run and --review work"), "{held}");
}

#[test]
fn the_state_of_an_index_that_is_not_kept_says_so() {
    let project = Project::new();
    project.write("a.rs", "fn money() {}\n");
    let status = || project.run(&["index", "status"]).ok();
    project.run(&["index", "search", "money"]).ok().prints("a.rs");
    status().prints("no index is kept: `agentd index build` makes one");
    project.run(&["index", "build"]).ok();
    status().prints("complete: 1 texts");
    // Where there is a state folder, a search keeps what it reads.
    std::fs::remove_dir_all(project.base().join("index")).unwrap();
    status().prints("not complete");
    project.run(&["index", "search", "money"]).ok();
    status().prints("complete: 1 texts");
}

#[test]
fn commands_with_a_folder_of_their_own_do_not_mind_an_owner() {
    let project = Project::new();
    project.write("a.rs", "fn money() {}\n");
    let id = project.begin("export");
    project.apply(LOG, &[]).ok();
    let mut owner = server(&project, &[]);
    let transcript = project.folder().join("transcript.json");
    let transcript = transcript.to_str().unwrap();
    project.run(&["show", &id, "--export", transcript]).ok();
    project.run(&["replay", transcript]).ok();
    project.run(&["demo", "--json"]).ok();
    project.run(&["index", "build"]).ok();
    project.run(&["index", "search", "money"]).ok().prints("a.rs");
    let request =
        "AGENT_REQUEST v1\nrole: author\nrequest_id: r1\nneeds:\n  - type: file.read\n    path: a.rs\n";
    let ran = project.run_with_input(&["codali"], request);
    assert_ne!(ran.code, 5, "{ran}");
    for arguments in [&["diff"][..], &["log"], &["sessions"], &["show", &id], &["cocode", "status"]] {
        let ran = project.run(arguments);
        assert_ne!(ran.code, 5, "{ran}");
    }
    owner.does("readFile", json!({ "path": "a.rs" }));
    let _: Value = project.run(&["log", "--json"]).ok().json();
}
