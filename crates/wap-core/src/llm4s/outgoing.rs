//! The messages of a server.

use serde::Serialize;
use serde_json::{Map, Value};

use super::command_story::ending;
use crate::{ExecuteCommandResponse, Response, WapError};

/// A message of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing<'a> {
    /// The answer to a command, except to a shell command that was started.
    Answer {
        /// The client's name for the command.
        command_id: &'a str,
        /// The response or the failure.
        answer: Result<&'a Response, &'a WapError>,
    },
    /// The end of a shell command that was started.
    Ran {
        /// The client's name for the command.
        command_id: &'a str,
        /// Its response.
        response: &'a ExecuteCommandResponse,
    },
    /// A shell command has started.
    Started {
        /// The client's name for the command.
        command_id: &'a str,
        /// Its text.
        command: &'a str,
    },
    /// A piece of a shell command's output.
    Output {
        /// The client's name for the command.
        command_id: &'a str,
        /// The pipe of the piece.
        stream: crate::OutputStream,
        /// The piece.
        content: &'a str,
        /// True if this output has ended.
        is_complete: bool,
    },
    /// A shell command ended, or did not start; no more messages about it follow.
    Completed {
        /// The client's name for the command.
        command_id: &'a str,
        /// The exit code: 143 for a cancelled command, -1 for one that took too long, 1 for one that did not run.
        exit_code: i32,
        /// The run time in milliseconds.
        duration_ms: u64,
    },
    /// A message was not accepted.
    Error {
        /// The error text.
        error: &'a str,
        /// The code for programs.
        code: &'a str,
        /// The command of the message; `None` if it named none.
        command_id: Option<&'a str>,
    },
    /// The answer to a heartbeat.
    Heartbeat {
        /// The time of the server, in milliseconds since 1970.
        timestamp_ms: i64,
    },
}

impl Outgoing<'_> {
    /// Renders the message.
    #[must_use]
    pub fn encode(&self) -> String {
        let message = match *self {
            Outgoing::Answer { command_id, answer } => {
                Message::Response { response: WireAnswer::of(command_id, answer) }
            }
            Outgoing::Ran { command_id, response } => {
                Message::Response { response: WireAnswer::ran(command_id, response) }
            }
            Outgoing::Started { command_id, command } => Message::Started { command_id, command },
            Outgoing::Output { command_id, stream, content, is_complete } => {
                let output_type = match stream {
                    crate::OutputStream::Stdout => "stdout",
                    crate::OutputStream::Stderr => "stderr",
                };
                Message::Output { command_id, output_type, content, is_complete }
            }
            Outgoing::Completed { command_id, exit_code, duration_ms } => {
                Message::Completed { command_id, exit_code, duration_ms }
            }
            Outgoing::Error { error, code, command_id } => Message::Error { error, code, command_id },
            Outgoing::Heartbeat { timestamp_ms } => Message::Heartbeat { timestamp: timestamp_ms },
        };
        text(&message)
    }
}

/// Renders a single answer, as sent over HTTP. A shell command that was ended is a response here too.
#[must_use]
pub fn answer_text(command_id: &str, answer: &Result<Response, WapError>) -> String {
    match ending(answer) {
        Some(response) => text(&WireAnswer::ran(command_id, &response)),
        None => text(&WireAnswer::of(command_id, answer.as_ref())),
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("messages have string keys")
}

// The messages on the wire, separate from `Outgoing`, whose fields are not those of the dialect.
#[derive(Serialize)]
#[serde(tag = "$type", rename_all_fields = "camelCase")]
enum Message<'a> {
    #[serde(rename = "ResponseMessage")]
    Response { response: WireAnswer<'a> },
    #[serde(rename = "CommandStartedMessage")]
    Started { command_id: &'a str, command: &'a str },
    #[serde(rename = "StreamingOutputMessage")]
    Output {
        command_id: &'a str,
        output_type: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_complete: bool,
    },
    #[serde(rename = "CommandCompletedMessage")]
    Completed { command_id: &'a str, exit_code: i32, duration_ms: u64 },
    #[serde(rename = "ErrorMessage")]
    Error {
        error: &'a str,
        code: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        command_id: Option<&'a str>,
    },
    #[serde(rename = "HeartbeatResponseMessage")]
    Heartbeat { timestamp: i64 },
}

// Untagged, because the tag depends on the response: `name` holds it, and comes first, as in the other messages.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum WireAnswer<'a> {
    Response {
        #[serde(rename = "$type")]
        name: &'static str,
        command_id: &'a str,
        #[serde(flatten)]
        response: WireResponse<'a>,
    },
    Failure {
        #[serde(rename = "$type")]
        name: &'static str,
        command_id: &'a str,
        error: &'a str,
        code: &'a str,
        /// A text and not an object, as clients of the dialect expect.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<String>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireResponse<'a> {
    Any(&'a Response),
    Ran(&'a ExecuteCommandResponse),
}

impl<'a> WireAnswer<'a> {
    fn ran(command_id: &'a str, response: &'a ExecuteCommandResponse) -> WireAnswer<'a> {
        let response = WireResponse::Ran(response);
        WireAnswer::Response { name: "ExecuteCommandResponse", command_id, response }
    }

    fn of(command_id: &'a str, answer: Result<&'a Response, &'a WapError>) -> WireAnswer<'a> {
        match answer {
            Ok(response) => WireAnswer::Response {
                name: name_of(response),
                command_id,
                response: WireResponse::Any(response),
            },
            // Of WAP's two codes the dialect has only the finer one, which its clients switch on.
            Err(error) => {
                let details: Map<_, _> =
                    error.details().map(|(name, value)| (name.to_owned(), value.clone())).collect();
                WireAnswer::Failure {
                    name: "WorkspaceAgentErrorResponse",
                    command_id,
                    error: error.message(),
                    code: error.reason().name(),
                    details: (!details.is_empty()).then(|| Value::Object(details).to_string()),
                }
            }
        }
    }
}

fn name_of(response: &Response) -> &'static str {
    match response {
        Response::ExploreFiles(_) => "ExploreFilesResponse",
        Response::ReadFile(_) => "ReadFileResponse",
        Response::WriteFile(_) => "WriteFileResponse",
        Response::ModifyFile(_) => "ModifyFileResponse",
        Response::DeleteFile(_) => "DeleteFileResponse",
        Response::SearchFiles(_) => "SearchFilesResponse",
        Response::ExecuteCommand(_) => "ExecuteCommandResponse",
        Response::StopProcess(_) => "StopProcessResponse",
        Response::GetWorkspaceInfo(_) => "GetWorkspaceInfoResponse",
    }
}
