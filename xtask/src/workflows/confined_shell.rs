//! Commands through agentd: one server on standard input and output for each workflow.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::account::Account;
use super::shell::Shell;
use super::step_result::StepResult;
use super::workflow::WorkflowStep;
use crate::TaskError;

/// The built program, and the folder for the state that it keeps of users.
#[derive(Clone)]
pub(super) struct Agentd {
    /// The program.
    pub(super) binary: PathBuf,
    /// An empty file of settings.
    pub(super) settings: PathBuf,
    /// The folder for homes of commands.
    pub(super) state: PathBuf,
}

/// Runs commands by `executeCommand` of a server whose confinement is required to be full.
pub(super) struct ConfinedShell {
    folder: PathBuf,
    server: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    next_id: u64,
    background: Vec<String>,
}

impl ConfinedShell {
    /// Starts a server for a folder.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotStarted`].
    pub(super) fn start(
        agentd: &Agentd,
        account: &Account,
        folder: &Path,
        network: &str,
    ) -> Result<ConfinedShell, TaskError> {
        let binary = agentd.binary.to_string_lossy();
        let settings = agentd.settings.to_string_lossy();
        let arguments =
            ["wap", "--quiet", "--config", &settings, "--sandbox", "require=full", "--network", network];
        let mut server = account
            .command(&binary, &arguments)
            .current_dir(folder)
            .env("XDG_STATE_HOME", &agentd.state)
            .arg("--workspace")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|source| TaskError::NotStarted { program: binary.into_owned(), source })?;
        let answers = BufReader::new(server.stdout.take().expect("its standard output is a pipe"));
        let requests = server.stdin.take();
        let folder = folder.to_owned();
        Ok(ConfinedShell { folder, server, requests, answers, next_id: 1, background: Vec::new() })
    }

    /// Makes a call and waits for its answer.
    fn call(&mut self, method: &str, parameters: Value) -> Result<Value, TaskError> {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        let requests = self.requests.as_mut().expect("requests are open until the end");
        let no_answer = |why: String| TaskError::NoAnswer { program: "agentd".to_owned(), why };
        writeln!(requests, "{request}").map_err(|error| no_answer(error.to_string()))?;
        let mut line = String::new();
        loop {
            line.clear();
            let length = self.answers.read_line(&mut line).map_err(|error| no_answer(error.to_string()))?;
            if length == 0 {
                return Err(no_answer("it has ended".to_owned()));
            }
            let answer: Value = serde_json::from_str(&line)
                .map_err(|source| TaskError::NotJson { what: "an answer of agentd".to_owned(), source })?;
            if answer["id"] == json!(id) {
                return Ok(answer);
            }
        }
    }
}

impl Shell for ConfinedShell {
    fn run(&mut self, step: &WorkflowStep, text: &str) -> Result<StepResult, TaskError> {
        let mut parameters = json!({"command": text, "timeout": step.timeout_seconds * 1000});
        if let Some(name) = &step.background {
            self.background.push(name.clone());
            parameters["background"] = json!(name);
            parameters["ready"] = json!(step.ready);
        }
        let start = Instant::now();
        let answer = self.call("executeCommand", parameters)?;
        let duration = start.elapsed();
        let result = StepResult { duration, ..result_of(&answer) };
        let is_running = answer["result"]["background"]["state"] == "ready";
        let exit_code = result.exit_code.filter(|_| step.background.is_none() || is_running);
        Ok(StepResult { exit_code, ..result })
    }

    fn stop_background(&mut self) -> Result<(), TaskError> {
        for name in std::mem::take(&mut self.background) {
            // One that has ended by itself answers an error.
            self.call("stopProcess", json!({"name": name}))?;
        }
        Ok(())
    }

    fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for ConfinedShell {
    fn drop(&mut self) {
        // The server ends with its standard input.
        drop(self.requests.take());
        let _ = self.server.wait();
    }
}

/// Reads an answer: a result, or an error with the details that it has.
fn result_of(answer: &Value) -> StepResult {
    let result = &answer["result"];
    let error = &answer["error"];
    let texts = [&result["stdout"], &result["stderr"], &error["message"]];
    let warnings = result["warnings"].as_array().into_iter().flatten();
    let texts = texts.into_iter().chain(warnings).filter_map(Value::as_str);
    let mut output = texts.collect::<Vec<_>>().join("\n");
    if !error.is_null() {
        output = format!("{error}\n{output}");
    }
    let receipts = [&result["denied"], &error["data"]["denied"], &error["data"]["details"]["denied"]];
    let receipts = receipts.iter().filter_map(|list| list.as_array()).flatten().map(receipt).collect();
    StepResult { exit_code: result["exitCode"].as_i64(), output, receipts, ..StepResult::default() }
}

fn receipt(entry: &Value) -> String {
    let parts = ["what", "why", "allow"].into_iter().filter_map(|name| entry[name].as_str());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
