//! One task by every client, over both transports, in both eras: `fixtures/clients/common_task/task.json`.
//!
//! Steps that a client cannot do are listed there, each with its reason. An exception that has become untrue fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::project::{Project, Ran, program};
use crate::fixture::web_server::WebServer;
use crate::server::real_clients::{clients, fixture, inspector, python_program};
use test_support::skip;

/// The eras, by the modes that clients have for them.
pub(super) const ERAS: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

/// The transports.
pub(super) const TRANSPORTS: [&str; 2] = ["stdio", "http"];

const ASKING: [&str; 2] = ["--review", "--questions"];

/// The task, as the fixture has it.
pub(super) struct CommonTask(Value);

impl CommonTask {
    pub(super) fn read() -> CommonTask {
        CommonTask(serde_json::from_str(&fs::read_to_string(file()).unwrap()).unwrap())
    }

    pub(super) fn steps(&self) -> &[Value] {
        self.0["steps"].as_array().unwrap()
    }

    /// Returns the steps that a client is excepted from.
    fn excepted(&self, client: &str, era: &str, transport: &str) -> BTreeSet<&str> {
        let names =
            |list: &Value, name: &str| list.as_array().is_none_or(|all| all.iter().any(|one| one == name));
        let exceptions = self.0["exceptions"].as_array().unwrap().iter().filter(|exception| {
            assert!(exception["reason"].as_str().is_some_and(|reason| reason.ends_with('.')), "{exception}");
            names(&exception["clients"], client)
                && names(&exception["eras"], era)
                && names(&exception["transports"], transport)
        });
        exceptions
            .flat_map(|exception| exception["steps"].as_array().unwrap())
            .filter_map(Value::as_str)
            .collect()
    }

    /// Fails unless a client has done all steps but those that it is excepted from, in their order.
    #[track_caller]
    pub(super) fn is_done(&self, client: &str, era: &str, transport: &str, done: &[&str]) {
        let excepted = self.excepted(client, era, transport);
        let names = self.steps().iter().map(|step| step["name"].as_str().unwrap());
        let expected: Vec<&str> = names.filter(|name| !excepted.contains(name)).collect();
        assert_eq!(done, expected, "{client} {era} {transport}");
    }
}

/// The servers of one run of the task, each on its own folder.
pub(super) struct Servers {
    pub(super) project: Project,
    /// The folder of the server that asks its client's person.
    pub(super) asking: Project,
    over_http: Option<[WebServer; 2]>,
}

impl Servers {
    pub(super) fn new(task: &CommonTask, transport: &str) -> Servers {
        let (project, asking) = (Project::new(), Project::new());
        for (path, text) in task.0["files"].as_object().unwrap() {
            let file = project.workspace().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text.as_str().unwrap()).unwrap();
        }
        let over_http = (transport == "http")
            .then(|| [WebServer::start(&project, &["--tools", "undo"]), WebServer::start(&asking, &ASKING)]);
        Servers { project, asking, over_http }
    }

    /// Returns address and token of the servers over HTTP, the asking one last.
    pub(super) fn over_http(&self) -> Option<[(String, String); 2]> {
        let location =
            |server: &WebServer| (format!("http://{}/mcp", server.address), server.token.clone().unwrap());
        self.over_http.as_ref().map(|[plain, asking]| [location(plain), location(asking)])
    }

    /// Returns the arguments that tell a script where the servers are.
    fn arguments(&self) -> Vec<String> {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        match self.over_http() {
            Some([plain, asking]) => vec!["http".to_owned(), plain.0, plain.1, asking.0, asking.1],
            None => vec![
                "stdio".to_owned(),
                text(program().to_owned()),
                text(self.project.workspace()),
                text(self.asking.workspace()),
            ],
        }
    }

    /// Fails unless the folders are as the task leaves them.
    #[track_caller]
    pub(super) fn are_as_expected(&self, asks: bool) {
        assert!(self.project.read("src/greet.py").contains("Hello {name}"));
        assert_eq!(self.asking.written("answered").as_deref(), asks.then_some("yes\n"));
        assert!(!self.asking.has("refused"));
    }
}

pub(super) fn file() -> PathBuf {
    fixture("common_task/task.json")
}

/// Has a script complete the task over both transports in both eras. `begin` returns it as far as its mode.
fn completes(test: &str, client: &str, begin: impl Fn(&str) -> Option<Command>) {
    let task = CommonTask::read();
    for transport in TRANSPORTS {
        for (mode, era) in ERAS {
            let Some(mut script) = begin(mode) else {
                return skip(test, "`cargo xtask setup` installs the clients of MCP");
            };
            let servers = Servers::new(&task, transport);
            script
                .arg(file())
                .args(servers.arguments())
                .env("HOME", servers.project.folder())
                .stdin(Stdio::null());
            let ran = Ran::of(script.output().unwrap()).ok();
            let outcome = ran.json();
            assert_eq!(outcome["version"], era, "{client} {transport}: {ran}");
            let done: Vec<&str> =
                outcome["done"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            task.is_done(client, era, transport, &done);
            servers.are_as_expected(done.contains(&"question"));
        }
    }
}

fn python(client: &str, mode: &str) -> Option<Command> {
    let mut python = python_program("python")?;
    python.arg(fixture("common_task/python.py")).args([client, mode]);
    Some(python)
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_python_package_completes_the_common_task() {
    let test = "the_python_package_completes_the_common_task";
    completes(test, "mcp", |mode| python("mcp", mode));
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn fastmcp_completes_the_common_task() {
    completes("fastmcp_completes_the_common_task", "fastmcp", |mode| python("fastmcp", mode));
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_typescript_client_completes_the_common_task() {
    completes("the_typescript_client_completes_the_common_task", "typescript", |mode| {
        let packages = clients()?.join("host-node");
        let mut node = python_program("node")?;
        node.arg(fixture("common_task/typescript.mjs")).arg(&packages).arg(mode);
        packages.join("node_modules/@modelcontextprotocol/client").is_dir().then_some(node)
    });
}

#[test]
#[ignore = "a suite of its own: `cargo xtask clients`, which is one of the checks"]
fn the_inspector_completes_what_it_can_of_the_common_task() {
    let task = CommonTask::read();
    for transport in TRANSPORTS {
        for (era, version) in [("legacy", "2025-11-25"), ("modern", "2026-07-28")] {
            let servers = Servers::new(&task, transport);
            let target = match servers.over_http() {
                Some([(url, token), _]) => inspector::over_http(&url, &token),
                None => inspector::over_lines(&servers.project),
            };
            let excepted = task.excepted("inspector", version, transport);
            let mut done = Vec::new();
            for step in task.steps() {
                let (name, calls) = (step["name"].as_str().unwrap(), step["calls"].as_array());
                let mut problem = None;
                for call in calls.into_iter().flatten() {
                    let test = "the_inspector_completes_what_it_can_of_the_common_task";
                    let Some(inspector) = inspector::inspector(&servers.project, test) else { return };
                    let (tool, arguments) = (call["tool"].as_str().unwrap(), call["arguments"].to_string());
                    let method =
                        ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
                    let method = [&["--protocol-era", era], &method[..]].concat();
                    problem = problem.or(problem_of(call, &inspector::calls(inspector, &target, &method)));
                }
                if calls.is_some() && problem.is_none() {
                    done.push(name);
                }
                assert!(problem.is_none() || excepted.contains(name), "{version} {transport}: {problem:?}");
            }
            task.is_done("inspector", version, transport, &done);
            servers.are_as_expected(false);
        }
    }
}

/// Returns how the result of a call differs from what the task says; `None` if it does not.
pub(super) fn problem_of(call: &Value, result: &Value) -> Option<String> {
    let Some(parts) = result["content"].as_array() else { return Some(format!("{call}: {result}")) };
    let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    let listed = |name: &str| call[name].as_array().cloned().unwrap_or_default();
    let is_there = |part: &Value| text.contains(part.as_str().unwrap());
    let is_right = (result["isError"] == true) == (call["fails"] == true)
        && listed("has").iter().all(is_there)
        && !listed("lacks").iter().any(is_there);
    (!is_right).then(|| format!("{call}: {text}"))
}

#[test]
fn every_exception_names_a_step_and_a_reason() {
    let task = CommonTask::read();
    let names: BTreeSet<&str> = task.steps().iter().filter_map(|step| step["name"].as_str()).collect();
    for client in ["mcp", "fastmcp", "typescript", "rmcp", "inspector"] {
        for ((_, era), transport) in ERAS.into_iter().flat_map(|era| TRANSPORTS.map(|one| (era, one))) {
            let excepted = task.excepted(client, era, transport);
            assert!(excepted.is_subset(&names), "{excepted:?}");
            // An exception leaves at least what every client can do.
            for needed in ["explore", "find by name", "read with numbers", "edit by text", "run", "undo"] {
                assert!(!excepted.contains(needed), "{client} {needed}");
            }
        }
    }
    assert_ne!(task.0["exceptions"], json!([]));
}
