//! The npm package `@modelcontextprotocol/inspector`, in its command-line mode.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fixture::project::{Project, Ran, program};
use crate::fixture::web_server::WebServer;
use crate::server::real_clients::node_script;
use test_support::skip;

/// The inspector, which keeps what it wants to keep in the project's folder.
pub(super) fn inspector(project: &Project, test: &str) -> Option<Command> {
    let Some(mut inspector) = node_script("inspector/clients/launcher/build/index.js") else {
        skip(test, "`cargo xtask setup` installs the npm package @modelcontextprotocol/inspector");
        return None;
    };
    inspector.arg("--cli").env("HOME", project.folder()).stdin(Stdio::null());
    Some(inspector)
}

/// Has it do one thing and returns what it prints.
#[track_caller]
fn asks(mut inspector: Command, server: &[String], method: &[&str]) -> Value {
    inspector.args(method).args(server);
    Ran::of(inspector.output().unwrap()).ok().json()
}

/// Has it call a tool that may fail, and returns the result.
#[track_caller]
pub(super) fn calls(mut inspector: Command, server: &[String], method: &[&str]) -> Value {
    inspector.args(method).args(server);
    // A failure of the tool is its failure, too, after it has printed the result.
    Ran::of(inspector.output().unwrap()).json()
}

/// The arguments for a server on standard input and output.
pub(super) fn over_lines(project: &Project) -> Vec<String> {
    let workspace = project.workspace();
    let (program, workspace) = (program().to_str().unwrap(), workspace.to_str().unwrap());
    ["--", program, "mcp", "--workspace", workspace, "--tools", "undo"].map(str::to_owned).to_vec()
}

/// The arguments for a server over HTTP.
pub(super) fn over_http(url: &str, token: &str) -> Vec<String> {
    let header = format!("Authorization: Bearer {token}");
    ["--transport", "http", "--server-url", url, "--header", &header].map(str::to_owned).to_vec()
}

#[track_caller]
fn text(result: &Value) -> &str {
    assert_eq!(result["isError"], false, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_inspector_lists_and_calls_tools() {
    let project = Project::new();
    let server = WebServer::start(&project, &["--tools", "undo"]);
    let url = format!("http://{}/mcp", server.address);
    let over_http = over_http(&url, server.token.as_deref().unwrap());
    for target in [over_lines(&project), over_http] {
        for era in ["legacy", "modern"] {
            let ask = |method: &[&str]| {
                let inspector = inspector(&project, "the_inspector_lists_and_calls_tools")?;
                Some(asks(inspector, &target, &[&["--protocol-era", era], method].concat()))
            };
            let call = |tool: &str, arguments: &str| {
                ask(&["--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments])
            };
            project.write("a.txt", "one\ntwo\n");
            // In its strict mode, it finds no fault with the schemas.
            let Some(list) = ask(&["--method", "tools/list", "--strict"]) else { return };
            assert_eq!(list["tools"].as_array().unwrap().len(), 9, "{list}");
            let read = call("readFile", r#"{"path":"a.txt","startLine":2}"#).unwrap();
            assert!(text(&read).ends_with("\n2|two\n"), "{read}");
            let edit = r#"{"path":"a.txt","operations":[{"type":"delete","startLine":1,"endLine":1}]}"#;
            let edited = call("modifyFile", edit).unwrap();
            assert_eq!(edited["structuredContent"]["success"], true, "{edited}");
            assert_eq!(project.read("a.txt"), "two\n");
            let ran = call("executeCommand", r#"{"command":"cat a.txt"}"#).unwrap();
            assert!(text(&ran).ends_with("\ntwo\n"), "{ran}");
            assert!(text(&call("undo", "{}").unwrap()).contains("restored"));
            assert_eq!(project.read("a.txt"), "one\ntwo\n");
        }
    }
}
