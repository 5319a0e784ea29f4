//! The messages of clients.

use serde_json::{Map, Value, json};

use crate::{LineNumbers, Reason, Request, Tool, WapError};

/// The package of the types; a client may prefix a type's name with it.
const PACKAGE: &str = "org.llm4s.shared.";

/// The most bytes of a command's id.
const MOST_ID_BYTES: usize = 1 << 10;

/// Messages that only a server sends.
const SERVER_MESSAGES: [&str; 6] = [
    "ResponseMessage",
    "HeartbeatResponseMessage",
    "StreamingOutputMessage",
    "CommandStartedMessage",
    "CommandCompletedMessage",
    "ErrorMessage",
];

/// The commands and their tools.
const COMMANDS: [(&str, Tool); 8] = [
    ("ExploreFilesCommand", Tool::ExploreFiles),
    ("ReadFileCommand", Tool::ReadFile),
    ("WriteFileCommand", Tool::WriteFile),
    ("ModifyFileCommand", Tool::ModifyFile),
    ("SearchFilesCommand", Tool::SearchFiles),
    ("ExecuteCommandCommand", Tool::ExecuteCommand),
    ("StopProcessCommand", Tool::StopProcess),
    ("GetWorkspaceInfoCommand", Tool::GetWorkspaceInfo),
];

/// A message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// Carry out a command.
    Command(Command),
    /// End the command with this id.
    Cancel {
        /// The id, as the client chose it.
        command_id: String,
    },
    /// A sign of life from the client.
    Heartbeat,
}

/// A command of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The client's name for the command, repeated in every message about it.
    pub id: String,
    /// True for a shell command, whose progress is reported while it runs, even if the request cannot be read.
    pub is_shell_command: bool,
    /// The request; an error if the client named a command that does not exist, reported under the command's id.
    pub request: Result<Request, WapError>,
}

/// A message that cannot be accepted; the client receives an [`Outgoing::Error`](super::Outgoing::Error).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadMessage {
    /// The message is not a JSON object with a type of the dialect, or is a command without an id, without a required field, or
    /// with a field of the wrong type. The original decodes a message as a whole and does not distinguish these.
    #[error("Invalid message format")]
    Format,
    /// The id of a command is too long: it is kept while the command waits, and repeated in every message about it.
    #[error("a commandId has at most {MOST_ID_BYTES} bytes")]
    LongId,
    /// A message that only a server sends.
    #[error("Unexpected message type: {name}")]
    ServerOnly {
        /// The short name of the message.
        name: &'static str,
    },
}

impl BadMessage {
    /// Returns the code of the error for the client.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            BadMessage::Format => "PARSE_ERROR",
            BadMessage::LongId => "INVALID_COMMAND_ID",
            BadMessage::ServerOnly { .. } => "INVALID_MESSAGE_TYPE",
        }
    }
}

/// Reads a message.
///
/// # Errors
///
/// [`BadMessage`]; the connection stays usable.
pub fn decode(text: &str) -> Result<Incoming, BadMessage> {
    let Ok(Value::Object(mut message)) = read_json(text) else { return Err(BadMessage::Format) };
    match type_of(&message).ok_or(BadMessage::Format)? {
        "CommandMessage" => {
            let command = message.remove("command").unwrap_or_default();
            read_command(command).map(Incoming::Command)
        }
        "CancelCommandMessage" => match message.remove("commandId") {
            Some(Value::String(command_id)) if command_id.len() > MOST_ID_BYTES => Err(BadMessage::LongId),
            Some(Value::String(command_id)) => Ok(Incoming::Cancel { command_id }),
            _ => Err(BadMessage::Format),
        },
        "HeartbeatMessage" => Ok(Incoming::Heartbeat),
        other => {
            let server_only = SERVER_MESSAGES.into_iter().find(|name| *name == other);
            Err(server_only.map_or(BadMessage::Format, |name| BadMessage::ServerOnly { name }))
        }
    }
}

/// Reads a single command, as sent over HTTP.
///
/// # Errors
///
/// [`BadMessage::Format`].
pub fn decode_command(text: &str) -> Result<Command, BadMessage> {
    read_json(text).and_then(read_command)
}

/// Parses a text that has no more values than a request needs.
fn read_json(text: &str) -> Result<Value, BadMessage> {
    crate::check_json_size(text.as_bytes()).map_err(|_| BadMessage::Format)?;
    serde_json::from_str(text).map_err(|_| BadMessage::Format)
}

/// Returns the short name of an object's type.
fn type_of(object: &Map<String, Value>) -> Option<&str> {
    let name = object.get("$type")?.as_str()?;
    Some(name.strip_prefix(PACKAGE).unwrap_or(name))
}

fn read_command(command: Value) -> Result<Command, BadMessage> {
    let Value::Object(mut fields) = command else { return Err(BadMessage::Format) };
    let name = type_of(&fields).ok_or(BadMessage::Format)?.to_owned();
    let Some(Value::String(id)) = fields.remove("commandId") else { return Err(BadMessage::Format) };
    if id.len() > MOST_ID_BYTES {
        return Err(BadMessage::LongId);
    }
    let tool = COMMANDS.into_iter().find(|(command, _)| *command == name).map(|(_, tool)| tool);
    // An unknown command is refused under its id; a known one with bad fields is a bad message, as in the original.
    let request = match tool {
        Some(tool) => Ok(native_request(tool, fields).map_err(|_| BadMessage::Format)?),
        None => {
            let name: String = name.chars().take(100).collect();
            Err(WapError::new(Reason::UnknownTool, format!("there is no command '{name}'")))
        }
    };
    Ok(Command { id, is_shell_command: tool == Some(Tool::ExecuteCommand), request })
}

/// Turns the fields of a command into the native request.
fn native_request(tool: Tool, mut fields: Map<String, Value>) -> Result<Request, WapError> {
    fields.remove("$type");
    match tool {
        Tool::ExecuteCommand => {
            if let Some(timeout) = fields.get_mut("timeout") {
                *timeout = milliseconds(timeout)?;
            }
        }
        Tool::ModifyFile => {
            let operations = fields.get_mut("operations").and_then(Value::as_array_mut);
            for (index, operation) in operations.into_iter().flatten().enumerate() {
                name_operation(index, operation)?;
            }
            // Set this even if the client sends the field: in the dialect, operations always apply in turn.
            fields.insert("lineNumbers".to_owned(), json!(LineNumbers::InTurn));
        }
        _ => {}
    }
    Request::parse(tool.name(), Value::Object(fields))
}

/// Converts seconds, whole or not, into whole milliseconds.
fn milliseconds(seconds: &Value) -> Result<Value, WapError> {
    if let Some(whole) = seconds.as_i64() {
        return Ok(whole.saturating_mul(1_000).into());
    }
    match seconds.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
        // Round, since 1.001 s is 1000.99… ms as a float.
        Some(fraction) => Ok(((fraction * 1_000.0).round() as i64).into()),
        None if seconds.is_null() => Ok(Value::Null),
        None => Err(WapError::new(Reason::InvalidField, "the timeout is not a number of seconds")
            .with("field", "timeout")),
    }
}

/// Gives an operation the native `type`, which clients of the dialect leave out.
fn name_operation(index: usize, operation: &mut Value) -> Result<(), WapError> {
    let Some(fields) = operation.as_object_mut() else { return Ok(()) };
    let native = match type_of(fields) {
        Some("ReplaceOperation") => "replace",
        Some("InsertOperation") => "insert",
        Some("DeleteOperation") => "delete",
        Some("RegexReplaceOperation") => "regexReplace",
        // Without a type of the dialect it needs a native one.
        None => return Ok(()),
        Some(other) => {
            let name: String = other.chars().take(100).collect();
            return Err(WapError::new(Reason::InvalidField, format!("there is no operation '{name}'"))
                .with("field", format!("operations[{index}].$type")));
        }
    };
    fields.remove("$type");
    fields.insert("type".to_owned(), native.into());
    Ok(())
}
