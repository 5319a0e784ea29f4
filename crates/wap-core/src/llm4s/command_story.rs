//! The messages about one shell command, from its start to its end.

use serde_json::Value;

use super::outgoing::Outgoing;
use super::text_pieces::TextPieces;
use crate::{Denied, ExecuteCommandResponse, OutputStream, Reason, Response, WapError};

/// The exit code of a command that was cancelled: 128 and the number of SIGTERM.
const CANCELLED: i32 = 143;

/// The exit code of a command that took too long.
const TIMED_OUT: i32 = -1;

/// The exit code of a command that used too much memory: 128 and the number of SIGKILL.
const KILLED: i32 = 137;

/// The exit code of a command that did not run.
const NOT_RUN: i32 = 1;

/// Produces the messages about one shell command, in order: its start, pieces of its output, the end of both outputs, one
/// response, and its completion.
///
/// For a command that was not started, these are a failure and its completion. In every case exactly one message, the last,
/// reports the completion.
#[derive(Debug)]
pub struct CommandStory {
    id: String,
    command: String,
    has_started: bool,
    outputs: [Output; 2],
}

#[derive(Debug, Default)]
struct Output {
    pieces: TextPieces,
    left_out_bytes: u64,
}

impl CommandStory {
    /// Begins the story of a requested command.
    pub fn new(id: impl Into<String>, command: impl Into<String>) -> CommandStory {
        CommandStory {
            id: id.into(),
            command: command.into(),
            has_started: false,
            outputs: Default::default(),
        }
    }

    /// Returns the message that the command started; `None` if it was already returned.
    pub fn started(&mut self) -> Option<String> {
        // `ended` reports a missing start, so this may be called twice.
        if std::mem::replace(&mut self.has_started, true) {
            return None;
        }
        Some(Outgoing::Started { command_id: &self.id, command: &self.command }.encode())
    }

    /// Returns the message with a piece of output; `None` if the piece is only a part of a character.
    pub fn printed(&mut self, stream: OutputStream, bytes: &[u8]) -> Option<String> {
        let output = &mut self.outputs[index(stream)];
        let content = format!("{}{}", output.take_gap(), output.pieces.push(bytes));
        self.piece(stream, &content)
    }

    /// Records output that cannot be sent, because the client has not read the earlier messages. The next piece reports the
    /// number of missing bytes; the response holds as much output as any response.
    pub fn left_out(&mut self, stream: OutputStream, bytes: &[u8]) {
        let output = &mut self.outputs[index(stream)];
        // Leave out a held incomplete character, too: its remaining bytes are among these.
        output.left_out_bytes += (output.pieces.finish().len() + bytes.len()) as u64;
    }

    /// Returns the messages for a command that ended, or did not start. `ran_ms` is its run time in milliseconds, measured by the
    /// caller; the engine's figure has precedence.
    pub fn ended(mut self, answer: &Result<Response, WapError>, ran_ms: u64) -> Vec<String> {
        let ran = ending(answer);
        let mut messages = Vec::new();
        // The start may not have been observed if another process runs the command; clients expect it first.
        if ran.is_some() {
            messages.extend(self.started());
        }
        if self.has_started {
            for stream in [OutputStream::Stdout, OutputStream::Stderr] {
                let output = &mut self.outputs[index(stream)];
                // An incomplete character is sent as U+FFFD before the end of its output.
                let content = format!("{}{}", output.take_gap(), output.pieces.finish());
                messages.extend(self.piece(stream, &content));
                let end = Outgoing::Output { command_id: &self.id, stream, content: "", is_complete: true };
                messages.push(end.encode());
            }
        }
        let command_id = self.id.as_str();
        let (exit_code, duration_ms) = match (&ran, answer) {
            (Some(response), _) => {
                messages.push(Outgoing::Ran { command_id, response }.encode());
                (response.exit_code, response.duration_ms)
            }
            (None, answer) => {
                messages.push(Outgoing::Answer { command_id, answer: answer.as_ref() }.encode());
                (exit_code_of_failure(answer), ran_ms)
            }
        };
        messages.push(Outgoing::Completed { command_id, exit_code, duration_ms }.encode());
        messages
    }

    fn piece(&self, stream: OutputStream, content: &str) -> Option<String> {
        let piece = Outgoing::Output { command_id: &self.id, stream, content, is_complete: false };
        (!content.is_empty()).then(|| piece.encode())
    }
}

impl Output {
    fn take_gap(&mut self) -> String {
        match std::mem::take(&mut self.left_out_bytes) {
            0 => String::new(),
            bytes => format!("\n… {bytes} bytes left out: they were not read in time …\n"),
        }
    }
}

fn index(stream: OutputStream) -> usize {
    match stream {
        OutputStream::Stdout => 0,
        OutputStream::Stderr => 1,
    }
}

/// Returns the response of a command that ran; `None` if it did not. A timeout and a cancellation are errors of the tools and
/// exit codes here.
pub(super) fn ending(answer: &Result<Response, WapError>) -> Option<ExecuteCommandResponse> {
    let error = match answer {
        Ok(Response::ExecuteCommand(response)) => return Some(response.clone()),
        Ok(_) => return None,
        Err(error) => error,
    };
    let exit_code = match error.reason() {
        Reason::Timeout => TIMED_OUT,
        Reason::Cancelled => CANCELLED,
        Reason::KilledForMemory => KILLED,
        _ => return None,
    };
    let text = |name| error.detail(name).and_then(Value::as_str).map(str::to_owned);
    // The error of a command that ran always holds its output; that of a command cancelled while waiting does not.
    let stdout = text("stdout")?;
    let warnings = error.detail("warnings").and_then(Value::as_array).into_iter().flatten();
    let warnings = warnings.filter_map(|warning| Some(warning.as_str()?.to_owned()));
    Some(ExecuteCommandResponse {
        stdout,
        stderr: text("stderr").unwrap_or_default(),
        exit_code,
        is_output_truncated: error.detail("isOutputTruncated").and_then(Value::as_bool).unwrap_or(false),
        duration_ms: error.detail("durationMs").and_then(Value::as_u64).unwrap_or_default(),
        signal: None,
        background: None,
        whole_output: text("wholeOutput"),
        sandbox: text("sandbox").unwrap_or_default(),
        warnings: warnings.chain([error.message().to_owned()]).collect(),
        denied: Denied::of_error(error),
    })
}

fn exit_code_of_failure(answer: &Result<Response, WapError>) -> i32 {
    match answer {
        Err(error) if error.reason() == Reason::Cancelled => CANCELLED,
        Err(error) if error.reason() == Reason::Timeout => TIMED_OUT,
        _ => NOT_RUN,
    }
}
