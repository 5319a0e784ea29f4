//! The protocol between the owner of a state folder and its clients: JSON-RPC 2.0, one message a line.
//!
//! It is private to one version of the program, and both ends check that first. The methods are the names of the tools
//! and those below.

use crate::confinement::Confinement;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tagproto::CommandResult;
use wap_core::{ConversationId, FileChanged, Limits, Moment, Origin, OutputStream, Retention, RunKey};

/// The version of the protocol, raised whenever a message changes.
pub(crate) const VERSION: u32 = 7;

/// The longest message, in bytes: a reply is sent as its text and as that of its file.
pub(crate) const MOST_MESSAGE_BYTES: u64 = 2 * Limits::MAX_MESSAGE_BYTES;

/// The first message of a client: [`Hello`], answered with [`Welcome`].
pub(crate) const HELLO: &str = "agentd/hello";
/// A batch of changes: [`CallParams`] with a list of `FileChange`.
pub(crate) const CHANGE_FILES: &str = "agentd/changeFiles";
/// Requests the versions of files: [`CallParams`] with a [`FileStatesRequest`].
pub(crate) const FILE_STATES: &str = "agentd/fileStates";
/// Ends the processes that a conversation has left running: an [`EndConversation`], without an answer.
pub(crate) const END_CONVERSATION: &str = "agentd/endConversation";
/// Reverts changes: [`CallParams`] with an `UndoRequest`.
pub(crate) const UNDO: &str = "agentd/undo";
/// Checks that the owner lives, without parameters: answered at once, whatever else it is doing.
pub(crate) const PING: &str = "agentd/ping";
/// Reports that a command has started: [`Started`].
pub(crate) const STARTED: &str = "agentd/started";
/// Reports output of a command: [`Printed`].
pub(crate) const PRINTED: &str = "agentd/printed";
/// Reports that a block of a reply is about to be carried out: [`BlockStarted`].
pub(crate) const BLOCK_STARTED: &str = "agentd/blockStarted";
/// Reports that a block of a reply has ended: [`BlockFinished`].
pub(crate) const BLOCK_FINISHED: &str = "agentd/blockFinished";

/// The owner is about to leave and begins no more commands.
pub(crate) const LEAVING: i32 = -32_001;
/// The two cannot work together.
pub(crate) const MISMATCH: i32 = -32_002;

/// The greeting of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The version of the protocol.
    pub version: u32,
    /// The workspace's canonical path; bytes that are not UTF-8 are replaced.
    pub workspace: String,
    /// The user's options about the confinement of commands and about protected names.
    pub confinement: Confinement,
}

/// The greeting of the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// The process that owns the state folder.
    pub process_id: u32,
    /// The words of its command, such as `mcp`.
    pub command: String,
    /// The time at which it became the owner, in seconds since 1970.
    pub since: u64,
}

/// A request for the versions of files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FileStatesRequest {
    pub paths: Vec<String>,
    pub since: Option<Moment>,
}

/// The end of a conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndConversation {
    pub conversation: ConversationId,
}

/// The parameters of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallParams<R> {
    pub request: R,
    pub origin: WireOrigin,
    #[serde(default)]
    pub time_left_ms: Option<u64>,
}

/// An [`Origin`] in a message. Its retention is always that of a process, since the caller is one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireOrigin {
    conversation: ConversationId,
    run: RunKey,
    step: u32,
}

impl From<&Origin> for WireOrigin {
    fn from(origin: &Origin) -> WireOrigin {
        let Origin { conversation, run, step, .. } = origin.clone();
        WireOrigin { conversation, run, step }
    }
}

impl From<WireOrigin> for Origin {
    fn from(origin: WireOrigin) -> Origin {
        let WireOrigin { conversation, run, step } = origin;
        // Durable records are for sessions, which the owner's own calls carry out.
        Origin { conversation, run, step, retention: Retention::Process }
    }
}

/// A command has started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Started {
    pub id: u64,
    pub sandbox: String,
}

/// A command has printed something.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Printed {
    pub id: u64,
    pub is_error: bool,
    /// Bytes that are not UTF-8 are replaced: the text is for people who watch.
    pub text: String,
}

/// A block of a reply is about to be carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BlockStarted {
    pub id: u64,
    /// Its position among the items of the reply, 0-based.
    pub index: usize,
}

/// A block of a reply has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BlockFinished {
    pub id: u64,
    /// Its position among the items of the reply, 0-based.
    pub index: usize,
    pub result: CommandResult,
    pub changed: Option<FileChanged>,
}

impl Printed {
    pub(crate) fn stream(&self) -> OutputStream {
        if self.is_error { OutputStream::Stderr } else { OutputStream::Stdout }
    }
}

/// An answer, or a notification about a running call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Incoming {
    #[serde(default)]
    pub id: Option<u64>,
    #[serde(default)]
    pub result: Option<Value>,
    #[serde(default)]
    pub error: Option<IncomingError>,
    #[serde(default)]
    pub method: Option<String>,
    #[serde(default)]
    pub params: Value,
}

/// The failure of a call.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct IncomingError {
    pub code: i32,
    pub message: String,
    #[serde(default)]
    pub data: Option<wap_core::WapError>,
}
