//! Reports of hosts while they work.

use serde::{Deserialize, Serialize};

/// The greatest length of an event as JSON, in bytes.
pub(crate) const EVENT_LIMIT_BYTES: usize = 128 << 10;

/// The greatest length of a reason, in bytes. With its escapes it fits into an event.
const REASON_BYTES: usize = 8 << 10;

/// One message about a task, from the host that works on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The epoch that the host works under.
    pub epoch: u64,
    /// The message.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The host has started.
    Started,
    /// Lines of the agent's log.
    Lines {
        /// The lines, without their ends.
        lines: Vec<String>,
        /// The number of lines before these that were dropped, because there were too many at once.
        #[serde(default)]
        left_out: u64,
    },
    /// A bundle of the base is missing or damaged on the server; home uploads it again.
    BaseUnusable {
        /// The reason.
        reason: String,
    },
    /// The host finished after another had been given the task: its bundle is kept but not used.
    LateUnused {
        /// The reason.
        reason: String,
    },
    /// The start failed.
    AttemptFailed {
        /// The reason.
        reason: String,
    },
    /// A kind that this version does not know.
    #[serde(other)]
    Unknown,
}

impl EventKind {
    /// Returns the message with its reason truncated, if it is too long for an event.
    pub(crate) fn within_limits(mut self) -> EventKind {
        if let EventKind::BaseUnusable { reason }
        | EventKind::LateUnused { reason }
        | EventKind::AttemptFailed { reason } = &mut self
            && reason.len() > REASON_BYTES
        {
            *reason = crate::text::cut(reason, REASON_BYTES);
        }
        self
    }
}
