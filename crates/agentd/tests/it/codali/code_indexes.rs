//! The code index of a folder, while others work in it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::fixture::daemon::eventually;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;

fn files(project: &Project) -> u64 {
    project.run(&["index", "status", "--json"]).ok().json()["files"].as_u64().unwrap()
}

fn mcp(project: &Project, options: &[&str]) -> LineClient {
    let mut client = LineClient::start(project.command(&[&["mcp"], options].concat()));
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    client
}

/// Returns the text of a client's search.
#[track_caller]
fn search(client: &mut LineClient, query: &str) -> String {
    let answer =
        client.does("tools/call", json!({ "name": "docdexSearch", "arguments": { "query": query } }));
    assert_ne!(answer["isError"], true, "{answer}");
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn an_index_that_is_kept_is_kept_up_while_a_server_runs() {
    let project = Project::new();
    project.write("a.py", "def apricot():\n    pass\n");
    project.run(&["index", "build"]).ok();
    // Control: without a server it stays as it was built.
    project.write("b.py", "def blueberry():\n    pass\n");
    assert_eq!(files(&project), 1);
    let client = mcp(&project, &[]);
    eventually("what was saved before is known", || files(&project) == 2);
    project.write("c.py", "def cherry():\n    pass\n");
    eventually("what was saved meanwhile is known", || files(&project) == 3);
    fs::remove_file(project.workspace().join("a.py")).unwrap();
    eventually("what is gone is forgotten", || files(&project) == 2);
    client.end().ok();
    project.write("d.py", "def damson():\n    pass\n");
    assert_eq!(files(&project), 2);
    let _server = WebServer::start(&project, &[]);
    eventually("another server continues", || files(&project) == 3);
    project.write("e.py", "def elder():\n    pass\n");
    eventually("and keeps it up", || files(&project) == 4);
}

#[test]
fn a_server_without_an_index_makes_none_unless_it_can_be_asked() {
    let project = Project::new();
    project.write("a.py", "def apricot():\n    pass\n");
    let mut client = mcp(&project, &[]);
    client.does("tools/call", json!({ "name": "exploreFiles", "arguments": { "path": "." } }));
    client.end().ok();
    assert!(!project.base().join("index").exists());
    let client = mcp(&project, &["--tools", "docdexSearch"]);
    eventually("it is built before the first question", || {
        project.base().join("index/index.db").exists() && files(&project) == 1
    });
    client.end().ok();
}

#[test]
fn two_servers_on_one_folder_both_know_what_was_saved() {
    let project = Project::new();
    for number in 0..200 {
        project.write(&format!("f{number}.py"), &format!("def filler_{number}():\n    pass\n"));
    }
    let options = ["--tools", "docdexSearch"];
    let (mut first, mut second) = (mcp(&project, &options), mcp(&project, &options));
    for round in 0..5 {
        let word = ["apricot", "blueberry", "cherry", "damson", "elder"][round];
        project.write("fruit.py", &format!("def {word}():\n    pass\n"));
        for client in [&mut first, &mut second] {
            let answer = search(client, word);
            assert!(answer.starts_with("fruit.py:1-2"), "{word}: {answer}");
            assert!(!answer.contains("[changed since") && !answer.contains("being built"), "{answer}");
        }
    }
    // The first one owns the folder; when it ends, the other one continues.
    first.end().ok();
    project.write("fruit.py", "def fig():\n    pass\n");
    assert!(search(&mut second, "fig").starts_with("fruit.py:1-2"));
    second.end().ok();
}

/// The repository that this test is part of.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn an_architect_is_answered_about_this_repository() {
    let project = Project::with_base_outside();
    let folder = repository();
    let on = |arguments: &[&str], input: &str| {
        let arguments = [&["--workspace", folder.to_str().unwrap()], arguments].concat();
        project.run_with_input(&arguments, input).ok()
    };
    on(&["index", "build"], "");
    let request = "AGENT_REQUEST v1\nrole: architect\nrequest_id: 123\nneeds:\n  - type: docdex.search\n    query: \"refuse links out of the root\"\n    limit: 5\n  - type: file.read\n    path: \"crates/rel-path/src/lib.rs\"\ncontext:\n  summary: \"Need the rules of paths to finish plan\"\n";
    let lib = fs::read_to_string(folder.join("crates/rel-path/src/lib.rs")).unwrap();
    let answered = on(&["codali", "--json"], request).json();
    assert_eq!(answered["request_id"], "123");
    let hits = answered["results"][0]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 5);
    for hit in hits {
        let text = fs::read_to_string(folder.join(hit["path"].as_str().unwrap())).unwrap();
        assert!(text.contains(hit["snippet"].as_str().unwrap().lines().next().unwrap()), "{hit}");
    }
    assert_eq!(answered["results"][1]["content"], *lib);
    assert_eq!(answered["meta"].get("warnings").unwrap_or(&json!([])), &json!([]), "{answered}");

    // As models write it: prose, a bold header, a number in words, an unknown need, a colon in a text.
    let malformed = "Sure, let me look first.\n\n**AGENT_REQUEST v1**\nrole: architect\nrequest_id: 123\nneeds:\n  - type: docdex.search\n    query: error: links refused\n    limit: five\n  - type: docdex.telepathy\n  - type: file.read\n    path: crates/rel-path/src/lib.rs\ncontext: Need it\n\nThanks!\n";
    let answered = on(&["codali", "--json"], malformed).json();
    let results = answered["results"].as_array().unwrap();
    assert!(!results[0]["hits"].as_array().unwrap().is_empty(), "{answered}");
    assert_eq!((&results[1]["status"], &results[1]["error"]), (&json!("error"), &json!("unsupported_need")));
    assert_eq!(results[2]["content"], *lib);
    let warnings: Vec<&str> =
        answered["meta"]["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for code in ["invalid_field", "unsupported_need"] {
        assert!(warnings.iter().any(|warning| warning.starts_with(code)), "{code}: {warnings:?}");
    }
}
