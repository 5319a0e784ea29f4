//! The llm4s dialect: the workspace tools as JSON messages with a `$type`, over a WebSocket or one by one over HTTP.
//!
//! A client sends [`Incoming`] messages and is answered with [`Outgoing`] ones. Differences from the native dialect: every
//! message and every command names its type in `$type` (the short name is written; the short name and the one with its package
//! are read), a command and all messages about it carry a `commandId` that the client chose, a command's `timeout` is in seconds,
//! the operations of one `modifyFile` apply in turn, an error's `code` is the finer reason and its `details` are a text, and
//! `metadata.path` is relative. A shell command that has started always receives a response: exit code 143 if it was cancelled,
//! -1 if it took too long.
//!
//! The module does no I/O and reads no clock: [`CommandStory`] returns the messages about a shell command while it runs,
//! and the caller, which has the connection, sends them.
//!
//! ```
//! use wap_core::llm4s::{Incoming, decode};
//!
//! let text = r#"{"$type": "CommandMessage", "command":
//!     {"$type": "ExecuteCommandCommand", "commandId": "c1", "command": "make", "timeout": 90}}"#;
//! let Ok(Incoming::Command(command)) = decode(text) else { unreachable!() };
//! let wap_core::Request::ExecuteCommand(request) = command.request? else { unreachable!() };
//! assert_eq!((command.id.as_str(), request.timeout), ("c1", Some(90_000)));
//! # Ok::<(), wap_core::WapError>(())
//! ```

mod command_story;
mod config;
mod incoming;
mod outgoing;
mod text_pieces;

pub use command_story::CommandStory;
pub use config::limits_from_config;
pub use incoming::{BadMessage, Command, Incoming, decode, decode_command};
pub use outgoing::{Outgoing, answer_text};

/// The time after which the connection of a silent client is closed; clients should send a heartbeat every five seconds.
pub const LONGEST_SILENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// The reason, with the code 1000, for closing the connection of a silent client.
pub const SILENCE_TEXT: &str = "Heartbeat timeout";
