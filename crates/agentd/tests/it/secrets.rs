//! Secrets leave through no front end, and files survive a round trip.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::fixture::socket_client::SocketClient;
use crate::fixture::web_server::WebServer;

/// The shortest piece of a secret that is looked for.
const PIECE_BYTES: usize = 8;

#[derive(Deserialize)]
struct Recipe {
    kind: String,
    before: String,
    parts: Vec<String>,
    after: String,
}

/// A project with a file for each kind of secret of the corpus, and the pieces that must not leave.
struct Corpus {
    project: Project,
    files: BTreeMap<String, String>,
    pieces: Vec<String>,
}

impl Corpus {
    fn new() -> Corpus {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/secrets/secrets.json");
        let recipes: Vec<Recipe> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(recipes.len(), 200);
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut pieces = Vec::new();
        for Recipe { kind, before, parts, after } in recipes {
            let value = parts.concat();
            pieces.extend(
                value
                    .lines()
                    .filter(|line| line.len() >= PIECE_BYTES && !line.contains("-----"))
                    .map(str::to_owned),
            );
            files.entry(format!("src/{kind}.txt")).or_default().push_str(&format!("{before}{value}{after}"));
        }
        assert_eq!(files.len(), 12);
        let project = Project::new();
        for (path, text) in &files {
            project.write(path, text);
        }
        Corpus { project, files, pieces }
    }

    /// Counts the secrets with a line in a text.
    fn leaks(&self, text: &str) -> usize {
        self.pieces.iter().filter(|piece| text.contains(piece.as_str())).count()
    }

    #[track_caller]
    fn holds_none(&self, front_end: &str, text: &str) {
        assert!(text.contains("⟦secret:"), "{front_end} shows nothing: {text}");
        let leaked = self.pieces.iter().find(|piece| text.contains(piece.as_str()));
        assert_eq!(leaked, None, "{front_end} leaks {} of {}", self.leaks(text), self.pieces.len());
    }
}

/// The calls that a model could make to see the files.
fn calls(corpus: &Corpus) -> Vec<(&'static str, Value)> {
    let mut calls: Vec<(&str, Value)> = vec![
        ("exploreFiles", json!({ "path": "", "recursive": true })),
        ("executeCommand", json!({ "command": "cat src/*; cat src/* >&2" })),
        (
            "executeCommand",
            json!({ "command": "head -n 3 src/private-key.txt; tail -n 3 src/private-key.txt" }),
        ),
        ("executeCommand", json!({ "command": "diff /dev/null src/generic-key.txt; exit 3" })),
    ];
    for path in corpus.files.keys() {
        calls.push(("readFile", json!({ "path": path })));
        calls.push(("readFile", json!({ "path": path, "lineNumbers": true })));
        calls.push(("readFile", json!({ "path": path, "startLine": 3, "endLine": 9 })));
        for query in ["=|:", "[A-Za-z0-9]{12}", "^[A-Z]", "AKIA|ghp_|npm_|xoxb"] {
            calls.push((
                "searchFiles",
                json!({ "paths": [path], "query": query, "type": "regex", "contextLines": 4 }),
            ));
        }
        // A conflict, whose error quotes the file, and a change, whose answer does.
        let miss =
            json!({ "type": "replace", "startLine": 2, "endLine": 4, "newContent": "x", "was": "not there" });
        calls.push(("modifyFile", json!({ "path": path, "operations": [miss] })));
        let insert = json!({ "type": "insert", "afterLine": 3, "newContent": "inserted" });
        calls.push(("modifyFile", json!({ "path": path, "operations": [insert] })));
        calls.push((
            "modifyFile",
            json!({ "path": path, "operations": [{ "type": "delete", "startLine": 4, "endLine": 4 }] }),
        ));
    }
    calls
}

fn mcp(project: &Project, more: &[&str]) -> LineClient {
    let mut arguments = vec!["mcp", "--tools", "undo,log,docdexSearch,docdexSymbols"];
    arguments.extend(more);
    let mut client = LineClient::start(project.command(&arguments));
    client.does(
        "initialize",
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
    );
    client.notify("notifications/initialized", json!({}));
    client
}

#[test]
fn no_secret_leaves_over_mcp() {
    let corpus = Corpus::new();
    let mut client = mcp(&corpus.project, &[]);
    let mut said = String::new();
    for (tool, arguments) in calls(&corpus) {
        said.push_str(&client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).to_string());
    }
    let secret = corpus.pieces[20].as_str();
    for (tool, arguments) in [
        ("log", json!({})),
        ("docdexSearch", json!({ "query": "token", "limit": 20 })),
        ("docdexSearch", json!({ "query": secret, "limit": 20 })),
        ("undo", json!({})),
    ] {
        said.push_str(&client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).to_string());
    }
    client.end().ok();
    corpus.holds_none("mcp", &said);
}

#[test]
fn no_secret_leaves_over_json_lines_or_by_a_single_call() {
    let corpus = Corpus::new();
    let mut client = LineClient::start(corpus.project.command(&["wap"]));
    let said: String =
        calls(&corpus).into_iter().map(|(tool, arguments)| client.ask(tool, arguments).to_string()).collect();
    client.end().ok();
    corpus.holds_none("wap", &said);
    let called: String = corpus
        .files
        .keys()
        .map(|path| {
            corpus.project.run(&["call", "readFile", &json!({ "path": path }).to_string()]).ok().stdout
        })
        .collect();
    corpus.holds_none("call", &called);
}

#[test]
fn no_secret_leaves_over_http_or_a_web_socket() {
    let corpus = Corpus::new();
    let server = WebServer::start(&corpus.project, &["--llm4s-workspace"]);
    let said: String =
        calls(&corpus).iter().map(|(tool, arguments)| server.call(tool, arguments).text()).collect();
    corpus.holds_none("http", &said);
    let mut client = SocketClient::connect(&server);
    let mut said = String::new();
    for path in corpus.files.keys() {
        said.push_str(&client.does("ReadFile", json!({ "path": path })).to_string());
    }
    client.execute("run", "for file in src/*; do cat $file; sleep 0.05; done; cat src/* >&2");
    for message in client.until_completed("run") {
        said.push_str(&message.to_string());
    }
    corpus.holds_none("llm4s", &said);
}

#[test]
fn no_secret_leaves_by_a_session() {
    let corpus = Corpus::new();
    let project = &corpus.project;
    let secret = corpus.pieces.iter().find(|piece| piece.starts_with("ghp_")).unwrap();
    let id = project.begin(&format!("rotate {secret}"));
    let reads: String = corpus.files.keys().map(|path| format!("[READ_FILE path=\"{path}\"]\n")).collect();
    let edit =
        "[EDIT_FILE path=\"src/private-key.txt\" start_line=\"9\" end_line=\"9\"]\nnew line\n[/EDIT_FILE]\n";
    project.apply(&format!("Reply-To: {id}-1\n{reads}[RUN_COMMAND]\ncat src/*\n[/RUN_COMMAND]\n"), &[]).ok();
    project.apply(&format!("Reply-To: {id}-2\n{edit}{reads}"), &[]).ok();
    let mut said: String = (1..=3).map(|sequence| project.outbox(&id, sequence)).collect();
    said.push_str(&project.run(&["outbox", "--full"]).ok().stdout);
    corpus.holds_none("session", &said);
}

#[test]
fn a_file_damages_no_later_message_of_a_session() {
    let project = Project::new();
    let id = project.begin("make it");
    let chosen = [
        id.clone(),
        format!("Reply-To: {id}-2"),
        format!("Reply-To: {id}-3"),
        "=== HEADER ===".to_owned(),
        "=== PROTOCOL ===".to_owned(),
        "[READ_FILE path=".to_owned(),
        "[OK] READ_FILE:".to_owned(),
    ];
    let text: String = chosen.iter().map(|value| format!("password = '{value}'\n")).collect();
    project.write("x.txt", &text);
    for sequence in 1..=2 {
        project.apply(&format!("Reply-To: {id}-{sequence}\n[READ_FILE path=\"x.txt\"]\n"), &[]).ok();
        let (message, next) = (project.outbox(&id, sequence + 1), sequence + 1);
        let header = format!("=== HEADER ===\nSession: {id}\nSequence: {next}\nTask: make it\n");
        assert!(message.starts_with(&header), "{message}");
        for line in [&format!("Reply-To: {id}-{next}"), "=== PROTOCOL ===", "=== PROMPT ==="] {
            assert!(message.lines().any(|other| other == line), "{line}: {message}");
        }
    }
    let message = project.outbox(&id, 2);
    let masked = message.lines().filter(|line| line.contains("password = '⟦secret:")).count();
    assert_eq!(masked, chosen.len(), "the control: {message}");
}

#[test]
fn a_file_damages_no_version_and_no_time_of_another() {
    let project = Project::new();
    project.write("x.txt", "one\n");
    let mut client = LineClient::start(project.command(&["wap"]));
    let version = client.does("readFile", json!({ "path": "x.txt" }))["version"].clone();
    let entry = |client: &mut LineClient| {
        let listed =
            client.does("exploreFiles", json!({ "path": ".", "pattern": "x.txt", "returnMetadata": true }));
        serde_json::to_string(&listed).unwrap()
    };
    let listed = entry(&mut client);
    let time = listed.split("\"lastModified\":\"").nth(1).map(|rest| &rest[..24]).unwrap().to_owned();
    let text = format!("password = '{}'\npassword = '{time}'\n", version.as_str().unwrap());
    project.write("y.txt", &text);
    let read = client.does("readFile", json!({ "path": "y.txt" }));
    assert_eq!(read["content"].as_str().unwrap().matches("⟦secret:").count(), 2, "the control: {read}");
    assert_eq!(client.does("readFile", json!({ "path": "x.txt" }))["version"], version);
    assert_eq!(entry(&mut client), listed);
    let replace = json!({ "type": "replaceText", "oldText": "one", "newText": "two" });
    client
        .does("modifyFile", json!({ "path": "x.txt", "expectedVersion": version, "operations": [replace] }));
    assert_eq!(project.read("x.txt"), "two\n");
    client.end().ok();
}

#[test]
fn no_secret_leaves_by_codali() {
    let corpus = Corpus::new();
    let needs: String =
        corpus.files.keys().map(|path| format!("  - {{type: file.read, path: {path}}}\n")).collect();
    let request = format!(
        "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n{needs}  - {{type: docdex.search, query: token key password}}\n"
    );
    let answered = corpus.project.run_with_input(&["codali"], &request).ok();
    corpus.holds_none("codali", &answered.stdout);
}

#[test]
fn the_same_calls_leak_when_the_user_shows_secrets() {
    let corpus = Corpus::new();
    let mut client = mcp(&corpus.project, &["--secrets", "show"]);
    let mut said = String::new();
    for (tool, arguments) in calls(&corpus) {
        let answer = client.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        said.push_str(answer["result"]["content"][0]["text"].as_str().unwrap_or_default());
    }
    let ran = client.end().ok();
    assert!(ran.stderr.contains("models see secrets as they are: --secrets show"), "{}", ran.stderr);
    assert!(
        corpus.leaks(&said) * 10 > corpus.pieces.len() * 9,
        "{} of {}",
        corpus.leaks(&said),
        corpus.pieces.len()
    );
}

#[test]
fn what_a_model_reads_and_writes_back_is_the_same_file_after_a_restart_too() {
    let corpus = Corpus::new();
    let project = &corpus.project;
    let start = || LineClient::start(project.command(&["wap"]));
    let mut client = start();
    let contents: BTreeMap<&String, Value> = corpus
        .files
        .keys()
        .map(|path| (path, client.does("readFile", json!({ "path": path }))["content"].take()))
        .collect();
    client.end().ok();
    let mut client = start();
    for (path, content) in &contents {
        client.does("writeFile", json!({ "path": format!("{path}.copy"), "content": content }));
    }
    client.end().ok();
    for (path, text) in &corpus.files {
        assert!(project.read(&format!("{path}.copy")) == *text, "{path}");
    }
    let map = project.base().join("secrets.json");
    assert_eq!(fs::metadata(map).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_command_gets_the_value_and_the_log_does_not() {
    let corpus = Corpus::new();
    let project = &corpus.project;
    let read =
        project.run(&["call", "readFile", r#"{"path": "src/npm-token.txt", "endLine": 1}"#]).ok().stdout;
    let from = read.find("⟦").unwrap();
    let placeholder = &read[from..from + read[from..].find('⟧').unwrap() + '⟧'.len_utf8()];
    let command = json!({ "command": format!("printf %s '{placeholder}' > made") });
    project.run(&["call", "executeCommand", &command.to_string()]).ok();
    assert!(corpus.pieces.contains(&project.read("made")));
    let logged = project.run(&["log"]).ok().stdout;
    assert!(logged.contains(placeholder), "{logged}");
}

#[test]
fn a_client_that_masks_is_refused_by_an_owner_that_shows() {
    let corpus = Corpus::new();
    let project = &corpus.project;
    let id = project.begin("a task");
    let mut owner = mcp(project, &["--secrets", "show"]);
    owner.does("tools/call", json!({ "name": "exploreFiles", "arguments": { "path": "" } }));
    let refused = project.apply(&format!("Reply-To: {id}-1\n[READ_FILE path=\"src/npm-token.txt\"]\n"), &[]);
    refused.exits(4).says("--secrets");
    // Each process masks the calls of its own clients.
    let read = project.run(&["call", "readFile", r#"{"path": "src/npm-token.txt"}"#]).ok().stdout;
    corpus.holds_none("call", &read);
    owner.end().ok();
}

#[test]
fn files_of_credentials_are_left_out_until_the_user_names_them() {
    let project = Project::new();
    project.write(".env", "NAME=visible-only-when-granted\n").write("a.txt", "x\n");
    let listed = project.run(&["call", "exploreFiles", r#"{"path": "", "excludePatterns": []}"#]).ok();
    assert!(
        !listed.stdout.contains("\"path\": \".env\"") && listed.stdout.contains("--read-secret"),
        "{}",
        listed.stdout
    );
    let refused = project.run(&["call", "readFile", r#"{"path": ".env"}"#]).exits(1);
    assert!(!refused.stdout.contains("visible-only"), "{}", refused.stdout);
    let granted = project.run(&["call", "--read-secret", ".env", "readFile", r#"{"path": ".env"}"#]).ok();
    assert!(granted.stdout.contains("visible-only-when-granted"));
}

#[test]
fn doctor_says_what_models_see() {
    let project = Project::new();
    let masked = project.run(&["doctor"]).stdout;
    assert!(masked.contains("models see placeholders (--secrets mask)"), "{masked}");
    let revealed = project.run(&["doctor", "--secrets", "show", "--read-secret", ".env"]).stdout;
    assert!(
        revealed.contains("models see them as they are (--secrets show); files of credentials"),
        "{revealed}"
    );
}

#[test]
fn a_reply_that_is_tried_out_gets_the_values() {
    let corpus = Corpus::new();
    let project = &corpus.project;
    let id = project.begin("a task");
    project.apply(&format!("Reply-To: {id}-1\n[READ_FILE path=\"src/npm-token.txt\"]\n"), &[]).ok();
    let outbox = project.outbox(&id, 2);
    let from = outbox.find("⟦secret:npm-token:").unwrap();
    let placeholder = &outbox[from..from + outbox[from..].find('⟧').unwrap() + '⟧'.len_utf8()];
    let reply = format!(
        "Reply-To: {id}-2\n[CREATE_FILE path=\"made\"]\n{placeholder}\n[/CREATE_FILE]\n[READ_FILE path=\"src/github-pat.txt\"]\n"
    );
    let planned = project.apply(&reply, &["--dry-run"]).ok().stdout;
    let value = corpus.pieces.iter().find(|piece| planned.contains(piece.as_str()));
    assert!(value.is_some(), "a person sees what would be written: {planned}");
    project.apply(&reply, &["--try", "--keep"]).ok();
    assert!(corpus.pieces.contains(&project.read("made").trim_end().to_owned()));
    // The trial has given out placeholders that the kept message has.
    let outbox = project.outbox(&id, 3);
    corpus.holds_none("trial", &outbox);
    let from = outbox.find("⟦secret:github-pat:").unwrap();
    let placeholder = &outbox[from..from + outbox[from..].find('⟧').unwrap() + '⟧'.len_utf8()];
    let reply = format!("Reply-To: {id}-3\n[CREATE_FILE path=\"made\"]\n{placeholder}\n[/CREATE_FILE]\n");
    project.apply(&reply, &[]).ok();
    assert!(corpus.pieces.contains(&project.read("made").trim_end().to_owned()));
}

#[test]
fn a_damaged_map_is_reported_and_kept() {
    let corpus = Corpus::new();
    let project = &corpus.project;
    project.run(&["call", "readFile", r#"{"path": "src/npm-token.txt"}"#]).ok();
    project.write(".agentd/secrets.json", "{");
    let refused = project.run(&["call", "readFile", r#"{"path": "src/npm-token.txt"}"#]).exits(2);
    assert!(refused.stderr.contains("the map of placeholders is damaged"), "{}", refused.stderr);
    assert_eq!(project.read(".agentd/secrets.json"), "{");
}
