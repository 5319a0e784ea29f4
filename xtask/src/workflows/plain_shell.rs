//! Commands without confinement.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::account::Account;
use super::shell::Shell;
use super::step_result::StepResult;
use super::workflow::WorkflowStep;
use crate::TaskError;

/// Runs commands as the user of the account would type them.
pub(super) struct PlainShell {
    account: Account,
    folder: PathBuf,
    background: Vec<Child>,
}

impl PlainShell {
    pub(super) fn new(account: Account, folder: &Path) -> PlainShell {
        PlainShell { account, folder: folder.to_owned(), background: Vec::new() }
    }

    /// Runs a command of the preparation.
    ///
    /// # Errors
    ///
    /// [`TaskError::StepFailed`] with its output.
    pub(super) fn prepare(&self, text: &str) -> Result<(), TaskError> {
        let result = self.to_end(text, 600).map_err(not_started)?;
        if result.exit_code == Some(0) {
            return Ok(());
        }
        Err(TaskError::StepFailed { step: format!("`{text}`, which prints {:?},", result.output) })
    }

    /// The program `timeout` ends a command that takes too long, and leads its process group.
    fn command(&self, text: &str, timeout_seconds: u64) -> Command {
        let limit = timeout_seconds.to_string();
        let mut command = self.account.plain("timeout", &["--kill-after=5", &limit, "/bin/sh", "-c", text]);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn to_end(&self, text: &str, timeout_seconds: u64) -> io::Result<StepResult> {
        // A file: a process that a command leaves behind would keep a pipe open.
        let output = tempfile::NamedTempFile::new()?;
        let mut command = self.command(text, timeout_seconds);
        command.stdout(append_to(output.path())?).stderr(append_to(output.path())?);
        let start = Instant::now();
        let status = command.spawn()?.wait()?;
        let duration = start.elapsed();
        let output = String::from_utf8_lossy(&std::fs::read(output.path())?).into_owned();
        Ok(StepResult { exit_code: status.code().map(i64::from), output, duration, ..StepResult::default() })
    }

    fn until_ready(&mut self, step: &WorkflowStep, text: &str) -> io::Result<StepResult> {
        let (reader, writer) = io::pipe()?;
        let mut command = self.command(text, 3600);
        command.stdout(writer.try_clone()?).stderr(writer);
        let start = Instant::now();
        self.background.push(command.spawn()?);
        // The command holds the writing end, too.
        drop(command);
        let chunks = chunks_of(reader);
        let deadline = start + Duration::from_secs(step.timeout_seconds);
        let ready = step.ready.as_deref().unwrap_or_default();
        let mut output = String::new();
        while !output.contains(ready) {
            match chunks.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(chunk) => output.push_str(&chunk),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Ok(StepResult { output, duration: start.elapsed(), ..StepResult::default() });
                }
            }
        }
        Ok(StepResult { exit_code: Some(0), output, duration: start.elapsed(), ..StepResult::default() })
    }
}

impl Shell for PlainShell {
    fn run(&mut self, step: &WorkflowStep, text: &str) -> Result<StepResult, TaskError> {
        let result = match &step.background {
            Some(_) => self.until_ready(step, text),
            None => self.to_end(text, step.timeout_seconds),
        };
        result.map_err(not_started)
    }

    fn stop_background(&mut self) -> Result<(), TaskError> {
        for mut child in self.background.drain(..) {
            let group = Pid::from_child(&child);
            // A group that has ended is gone.
            let _ = kill_process_group(group, Signal::TERM);
            child.wait().map_err(not_started)?;
            let _ = kill_process_group(group, Signal::KILL);
        }
        Ok(())
    }

    fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for PlainShell {
    fn drop(&mut self) {
        let _ = self.stop_background();
    }
}

/// Reads a pipe to its end in a thread, so that its writer never blocks.
fn chunks_of(mut reader: io::PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = reader.read(&mut chunk) {
            // The receiver loses interest once the command is ready.
            let _ = sender.send(String::from_utf8_lossy(&chunk[..length]).into_owned());
        }
    });
    receiver
}

fn append_to(path: &Path) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().append(true).open(path)
}

fn not_started(source: io::Error) -> TaskError {
    TaskError::NotStarted { program: "sh".to_owned(), source }
}
