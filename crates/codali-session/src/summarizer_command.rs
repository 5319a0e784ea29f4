//! A shell command of the user that writes summaries.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use codali_envelope::history::{History, Message, Summarizer, SummaryError};
use wap_core::CancelFlag;

/// The environment variable with the number of tokens that the summary may have.
const LIMIT_VARIABLE: &str = "SUMMARY_TOKENS";

/// The bytes of a summary that are read for each token of its limit; output beyond that stays unread.
const BYTES_PER_TOKEN: u64 = 32;

/// The time between two looks at a running command.
const PAUSE: Duration = Duration::from_millis(10);

/// A command that reads messages on standard input and writes a summary of them to standard output.
///
/// It runs unconfined as the user who named it, like any program that is started from a shell. Its input comes from an
/// agent and a repository, and is data for it. The variable `SUMMARY_TOKENS` holds the limit of the summary.
pub struct SummarizerCommand<'a> {
    /// The text for `/bin/sh -c`.
    pub command: &'a str,
    /// The time that one summary may take; the command and what it started are killed then.
    pub timeout: Duration,
    /// Ends the command early.
    pub cancel: &'a CancelFlag,
    /// Receives a line for the user when a summary cannot be had.
    pub notice: &'a dyn Fn(&str),
}

impl SummarizerCommand<'_> {
    fn run(&self, input: String, limit_tokens: u64) -> Result<String, String> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(self.command).env(LIMIT_VARIABLE, limit_tokens.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        // A process group of its own, so that its children end with it.
        command.process_group(0);
        let mut child = Group(command.spawn().map_err(|error| format!("it cannot be started: {error}"))?);
        let mut stdin = child.0.stdin.take().ok_or("it has no input")?;
        let stdout = child.0.stdout.take().ok_or("it has no output")?;
        // Neither thread is joined: a child of the command may keep the pipe open after the command has ended.
        thread::spawn(move || stdin.write_all(input.as_bytes()));
        let most = limit_tokens.saturating_mul(BYTES_PER_TOKEN).max(4_096);
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(most).read_to_end(&mut bytes);
            let _ = sender.send(read.map(|_| bytes));
        });
        let deadline = Instant::now() + self.timeout;
        // The channel is polled, since neither a cancellation nor the deadline could end a read of the pipe.
        let bytes = loop {
            match output.recv_timeout(PAUSE) {
                Ok(read) => break read.map_err(|error| format!("its output cannot be read: {error}"))?,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err("its output cannot be read".into()),
                Err(mpsc::RecvTimeoutError::Timeout) => self.check(deadline)?,
            }
        };
        // A command that writes more than is read fails with a broken pipe, so that its exit status says nothing.
        let is_cut = bytes.len() as u64 == most;
        let status = loop {
            if is_cut {
                break None;
            }
            match child.0.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break Some(status),
                None => {
                    self.check(deadline)?;
                    thread::sleep(PAUSE);
                }
            }
        };
        match status.filter(|status: &ExitStatus| !status.success()) {
            Some(status) => Err(format!("it has failed: {status}")),
            None => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    fn check(&self, deadline: Instant) -> Result<(), String> {
        if self.cancel.is_cancelled() {
            return Err("it was interrupted".into());
        }
        if Instant::now() >= deadline {
            return Err(format!("it takes longer than {} s", self.timeout.as_secs()));
        }
        Ok(())
    }
}

impl Summarizer for SummarizerCommand<'_> {
    fn summarize(&mut self, messages: &[Message], limit_tokens: u64) -> Result<String, SummaryError> {
        let input = messages.iter().cloned().collect::<History>().written();
        let summary = self.run(input, limit_tokens).and_then(|summary| {
            if summary.trim().is_empty() { Err("it has written nothing".to_owned()) } else { Ok(summary) }
        });
        summary.map_err(|cause| {
            (self.notice)(&format!("there is no summary: {cause}"));
            SummaryError { cause }
        })
    }
}

/// A child with its process group, which is killed when this is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.0.id())
            && let Some(id) = rustix::process::Pid::from_raw(id)
        {
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// A summarizer that always fails, so that the oldest messages are left out instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSummarizer;

impl Summarizer for NoSummarizer {
    fn summarize(&mut self, _: &[Message], _: u64) -> Result<String, SummaryError> {
        Err(SummaryError { cause: "no command was named".to_owned() })
    }
}
