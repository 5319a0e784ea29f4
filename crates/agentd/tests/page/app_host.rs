//! A host of MCP apps: the script of the fixtures on the packages of the protocol, with `agentd mcp` as its server.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::browser::{Browser, package};
use crate::project::Project;

/// A running host; it ends with its input.
pub(crate) struct AppHost {
    child: Child,
    // Kept open, so that it can print.
    _output: BufReader<ChildStdout>,
    /// The address of its page.
    pub(crate) url: String,
    /// The address of another server, which the app must never reach.
    pub(crate) outside: String,
}

impl AppHost {
    /// Starts a host whose client speaks as `mode` says, or says that this test is skipped.
    pub(crate) fn start(test: &str, project: &Project, mode: &str) -> Option<AppHost> {
        let (Some(node), Some(packages)) = (package("python/bin/node"), package("host-node/node_modules"))
        else {
            test_support::skip(test, "the host of apps is not installed; `cargo xtask setup` installs it");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clients/app_host/host.mjs");
        let server = project.command(&["mcp", "--review", "--questions"]);
        let mut command = Command::new(node);
        command.arg(script).arg(packages.parent().unwrap()).arg(mode).arg(server.get_program());
        command.args(server.get_args()).current_dir(project.workspace());
        for (name, value) in server.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the host has not started");
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = |name: &str| listening[name].as_str().unwrap().to_owned();
        Some(AppHost { child, _output: output, url: address("url"), outside: address("outside") })
    }

    /// Opens its page.
    pub(crate) fn open(&self, browser: &Browser, query: &str) {
        browser.goto(&format!("{}?{query}", self.url));
        browser.wait("window.isReady");
    }

    /// Returns the paths that were requested from the outside.
    pub(crate) fn outside_requests(&self) -> Vec<String> {
        let text =
            ureq::get(format!("{}asked", self.url)).call().unwrap().body_mut().read_to_string().unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for AppHost {
    fn drop(&mut self) {
        // The server ends with its client.
        self.child.stdin.take();
        let _ = self.child.wait();
    }
}

/// Has the model call a tool, and goes into the app of the call.
pub(crate) fn model_calls(browser: &Browser, tool: &str, arguments: &Value) {
    browser.script("window.modelCalls(arguments[0], arguments[1])", &[json!(tool), arguments.clone()]);
    browser.wait("document.querySelectorAll('.call').length === window.bridges.length");
    let index = browser.value("document.querySelectorAll('.call').length - 1").as_u64().unwrap();
    enter(browser, u32::try_from(index).unwrap());
}

/// Goes into the app of a call: through its sandbox.
pub(crate) fn enter(browser: &Browser, index: u32) {
    browser.leave_frames();
    browser.enter_frame(index);
    browser.wait("document.querySelector('iframe')");
    browser.enter_frame(0);
    browser.wait("document.getElementById('review')");
}

/// Goes back to the page of the host, and waits for what the model reads.
#[track_caller]
pub(crate) fn model_reads(browser: &Browser, text: &str) {
    browser.leave_frames();
    browser.wait(&format!(
        "[...document.querySelectorAll('.outcome')].at(-1)?.textContent.includes({})",
        json!(text)
    ));
}

/// Waits until the app shows a state.
#[track_caller]
pub(crate) fn app_says(browser: &Browser, text: &str) {
    browser.wait(&format!("document.getElementById('state').textContent.includes({})", json!(text)));
}

/// Presses a button of the app as soon as it can be pressed.
#[track_caller]
pub(crate) fn press(browser: &Browser, id: &str) {
    browser.wait(&format!(
        "!document.getElementById('{id}').disabled && document.getElementById('{id}').offsetParent"
    ));
    browser.script(&format!("document.getElementById('{id}').click()"), &[]);
}
