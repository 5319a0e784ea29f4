//! Proposals that wait: of a session that another process follows, and of a client.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::project::Project;

/// A process of a test; killed when it is dropped.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A session whose replies wait for a review, with the process that follows it.
pub(crate) fn reviewed_session(project: &Project, task: &str) -> (String, Process) {
    let session = project.session(task);
    let child = project.command(&["resume", "--review"]).spawn().unwrap();
    (session, Process(child))
}

/// A client whose changes wait for a review.
pub(crate) struct Client {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _process: Process,
}

impl Client {
    pub(crate) fn new(project: &Project) -> Client {
        let mut child = project.command(&["wap", "--review"]).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Client { input, output, _process: Process(child) }
    }

    /// Makes a call, which waits for its review.
    pub(crate) fn calls(&mut self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.input, "{message}").unwrap();
    }

    /// Waits for the answer.
    pub(crate) fn answer(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == 1 {
                return message;
            }
        }
    }
}

/// Returns an edit that replaces whole lines by others.
pub(crate) fn edit(path: &str, lines: &[(usize, &str)]) -> Value {
    let operations: Vec<Value> = lines
        .iter()
        .map(|(line, text)| json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": text }))
        .collect();
    json!({ "path": path, "operations": operations })
}

/// The badge of the review in the navigation.
pub(crate) const BADGE: &str = "document.querySelector('#views a[href=\"#/review\"] .badge')";

/// Opens the proposal that waits.
#[track_caller]
pub(crate) fn open_review(browser: &Browser) {
    browser.wait(BADGE);
    browser.wait("document.getElementById('task') || document.querySelector('.sessions li')");
    browser.press("2");
    browser.wait("document.querySelector('.changes-of .hunk')");
}

/// Waits until the open proposal is over in this way.
#[track_caller]
pub(crate) fn is_over(browser: &Browser, how: &str) {
    browser.wait(&format!(
        "document.querySelector('.review-head strong')?.textContent.includes({})",
        json!(how)
    ));
}

/// Waits until the head says how much is taken.
#[track_caller]
pub(crate) fn shown_as(browser: &Browser, sentence: &str) {
    browser.wait(&format!("document.querySelector('.taken')?.textContent.startsWith({})", json!(sentence)));
}

/// The queue as the command line shows it.
pub(crate) fn listed(project: &Project, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["review"].iter().chain(arguments).chain(&["--json"]).copied().collect();
    let ran = project.command(&all).output().unwrap();
    serde_json::from_slice(&ran.stdout).unwrap_or_default()
}

/// Waits until a value has arrived where another process writes it.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !is_so() {
        assert!(began.elapsed().as_secs() < 60, "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
}

/// Python with the package `mcp`, if `cargo xtask setup` has installed it.
pub(crate) fn python() -> Option<Command> {
    let target = Path::new(env!("CARGO_BIN_EXE_agentd")).ancestors().nth(2)?;
    let python = target.join("clients/python/bin/python");
    python.is_file().then(|| Command::new(python))
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clients").join(name)
}
