//! The record of a task: its name, its command, and its state.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use change_review::ProposalId;
use serde::{Deserialize, Serialize};
use wap_core::{ConversationId, ExecuteCommandResponse, Origin, Retention, RunKey, WapError};

/// The prefix of every id.
const PREFIX: &str = "task-";

/// The longest id in bytes.
const MOST_BYTES: usize = 80;

/// The id of a task. Ids sort by creation time; the rest is random, so that ids cannot be guessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

/// A text that is not the id of a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text is not the id of a task")]
pub struct TaskIdError;

impl TaskId {
    /// Returns a new id.
    #[must_use]
    pub fn new() -> TaskId {
        TaskId(format!("{PREFIX}{:012x}-{}", now_ms(), uuid::Uuid::new_v4().simple()))
    }
}

impl Default for TaskId {
    fn default() -> TaskId {
        TaskId::new()
    }
}

impl FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<TaskId, TaskIdError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_id = text.starts_with(PREFIX) && text.len() <= MOST_BYTES && text.bytes().all(is_plain);
        if is_id { Ok(TaskId(text.to_owned())) } else { Err(TaskIdError) }
    }
}

impl TryFrom<String> for TaskId {
    type Error = TaskIdError;

    fn try_from(text: String) -> Result<TaskId, TaskIdError> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> String {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A task as its clients see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    /// Its id.
    pub id: TaskId,
    /// The first line of its command, with placeholders for secrets.
    pub subject: String,
    /// The time at which it was begun, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of its last change, in milliseconds since 1970.
    pub updated_ms: u64,
    /// Its state.
    pub state: TaskState,
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskState {
    /// The command waits for its turn: commands run one at a time, in the order of arrival.
    Waiting,
    /// The command runs.
    Running,
    /// A person has to review the command first.
    AwaitsReview {
        /// The proposal.
        proposal: ProposalId,
    },
    /// It is over. If the process that ran it was killed, the error's reason is `OutcomeUnknown`.
    Ended {
        /// The answer to the call.
        outcome: Box<Result<ExecuteCommandResponse, WapError>>,
    },
}

/// A task as the journal keeps it, without its command, which may contain secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskDocument {
    pub id: TaskId,
    pub conversation: String,
    pub subject: String,
    pub created_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalId>,
    /// The end that is not recorded elsewhere, such as a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The end of a task that no step of a run records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended {
    pub at_ms: u64,
    pub outcome: Result<ExecuteCommandResponse, WapError>,
}

impl TaskDocument {
    /// Returns the origin of the one call that the task makes.
    pub(super) fn origin(&self) -> Origin {
        Origin {
            conversation: ConversationId(self.conversation.clone()),
            run: RunKey::unnumbered(self.id.to_string()),
            step: 0,
            retention: Retention::Process,
        }
    }

    /// Returns the task in a state.
    pub(super) fn in_state(&self, state: TaskState, updated_ms: u64) -> TaskRecord {
        let TaskDocument { id, subject, created_ms, .. } = self.clone();
        TaskRecord { id, subject, created_ms, updated_ms: updated_ms.max(created_ms), state }
    }
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    milliseconds(SystemTime::now())
}

/// Returns a time in milliseconds since 1970.
pub(super) fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
