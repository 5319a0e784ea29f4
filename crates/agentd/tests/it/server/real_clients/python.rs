//! The Python packages `mcp` and `websockets`.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::fixture::project::{Project, Ran, program};
use crate::fixture::web_server::WebServer;
use crate::server::real_clients::{fixture, python_program};
use test_support::skip;

/// The ways of speaking, with the version that both sides then agree on.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

const TOOLS: [&str; 2] = ["--tools", "undo,log,readOutput,deleteFile"];

fn python(test: &str) -> Option<Command> {
    let python = python_program("python");
    if python.is_none() {
        skip(test, "`cargo xtask setup` installs the Python packages mcp and websockets");
    }
    python
}

/// A project whose shared file has lines of two clients in turn.
fn project() -> Project {
    let project = Project::new();
    let lines: String =
        (1..=20).flat_map(|number| ["p", "q"].map(|name| format!("{name} {number}\n"))).collect();
    project.write("shared.txt", &lines);
    project
}

fn begin(mut python: Command, mode: &str, name: &str, server: [&str; 3]) -> Child {
    python.arg(fixture("mcp_task.py")).args([mode, name]).args(server);
    python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn completes(client: Child, version: &str) {
    let ran = Ran::of(client.wait_with_output().unwrap()).ok();
    assert_eq!(ran.stdout.trim(), version, "{ran}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Every edit of a client is in the shared file, each once and whole.
#[track_caller]
fn has_all_edits(project: &Project, name: &str) {
    let shared = project.read("shared.txt");
    let done: Vec<_> = shared.lines().filter(|line| line.starts_with(&format!("{name} "))).collect();
    let expected: Vec<_> = (1..=20).map(|number| format!("{name} {number} done")).collect();
    assert_eq!(done, expected, "{shared}");
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_python_package_reads_and_follows_resources_in_both_eras() {
    for (mode, version) in MODES {
        for is_http in [false, true] {
            let Some(mut python) = python("the_python_package_reads_and_follows_resources_in_both_eras")
            else {
                return;
            };
            let project = Project::new();
            let server = is_http.then(|| WebServer::start(&project, &[]));
            python.arg(fixture("mcp_resources.py")).arg(mode).stdin(Stdio::null());
            match &server {
                Some(server) => {
                    let url = format!("http://{}/mcp", server.address);
                    python.args(["http", &url, server.token.as_deref().unwrap()]);
                }
                None => {
                    python.args(["stdio", text(program()), text(&project.workspace())]);
                }
            }
            let ran = Ran::of(python.output().unwrap()).ok();
            assert_eq!(ran.stdout.trim(), version, "{ran}");
        }
    }
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_python_package_completes_a_task_in_both_eras() {
    for (mode, version) in MODES {
        let Some(python) = python("the_python_package_completes_a_task_in_both_eras") else { return };
        let project = project();
        let workspace = project.workspace();
        let server = ["stdio", text(program()), text(&workspace)];
        completes(begin(python, mode, "p", server), version);
        has_all_edits(&project, "p");
    }
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_python_package_completes_a_task_over_http_in_both_eras() {
    for (mode, version) in MODES {
        let Some(python) = python("the_python_package_completes_a_task_over_http_in_both_eras") else {
            return;
        };
        let project = project();
        let server = WebServer::start(&project, &TOOLS);
        let url = format!("http://{}/mcp", server.address);
        completes(begin(python, mode, "p", ["http", &url, server.token.as_deref().unwrap()]), version);
        has_all_edits(&project, "p");
    }
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn two_clients_complete_their_tasks_at_once_on_one_workspace() {
    // Each with a different kind of owner: the server that was started before, or the first of the two clients.
    for ((first, first_version), (second, second_version), has_server) in [
        (MODES[0], MODES[1], true),
        (MODES[1], MODES[0], true),
        (MODES[0], MODES[0], false),
        (MODES[1], MODES[1], false),
    ] {
        let test = "two_clients_complete_their_tasks_at_once_on_one_workspace";
        let (Some(one), Some(other)) = (python(test), python(test)) else { return };
        let project = project();
        let workspace = project.workspace();
        let program = program();
        let lines = ["stdio", text(program), text(&workspace)];
        let server = has_server.then(|| WebServer::start(&project, &TOOLS));
        let url = server.as_ref().map(|server| format!("http://{}/mcp", server.address));
        let http = match (&url, &server) {
            (Some(url), Some(server)) => ["http", url.as_str(), server.token.as_deref().unwrap()],
            _ => lines,
        };
        let one = begin(one, first, "p", lines);
        let other = begin(other, second, "q", http);
        completes(one, first_version);
        completes(other, second_version);
        has_all_edits(&project, "p");
        has_all_edits(&project, "q");
        assert_eq!(project.read("shared.txt").lines().count(), 80, "{}", project.read("shared.txt"));
    }
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_python_package_takes_a_task_and_answers_questions() {
    for (mode, version) in MODES {
        let Some(mut python) = python("the_python_package_takes_a_task_and_answers_questions") else {
            return;
        };
        let project = Project::new();
        python.arg(fixture("mcp_questions.py")).args([mode, text(program()), text(&project.workspace())]);
        let ran = Ran::of(python.output().unwrap()).ok();
        assert_eq!(ran.stdout.trim(), version, "{ran}");
        assert_eq!(project.read("answered"), "yes\n");
        assert!(!project.has("refused"));
    }
}

/// The package `websockets`, for the dialect that is spoken in frames.
#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_python_package_for_websockets_goes_through_a_whole_flow() {
    let Some(mut python) = python("the_python_package_for_websockets_goes_through_a_whole_flow") else {
        return;
    };
    let project = Project::new();
    project.write("a.txt", "one\ntwo\nthree\n");
    let server = WebServer::start(&project, &[]);
    python.arg(fixture("llm4s_flow.py")).arg(format!("ws://{}/ws", server.address));
    python.arg(server.token.as_deref().unwrap());
    let ran = Ran::of(python.output().unwrap()).ok();
    assert_eq!(ran.stdout, "files\ncommands\ncancelling\nodd frames\n", "{ran}");
    assert_eq!(project.read("a.txt"), "zero\none\nTWO\n");
}
