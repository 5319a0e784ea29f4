//! The context of every request: its caller, its run, and its time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::CancelFlag;

/// The context of one call to a [`Workspace`](crate::Workspace).
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The conversation, run and step of this call.
    pub origin: &'a Origin,
    /// Raised when the caller no longer wants the answer.
    pub cancel: &'a CancelFlag,
    /// The time that the caller will wait; `None` leaves it to the engine's limits.
    pub time_left: Option<Duration>,
}

/// The origin of a call. Opaque to the engine, which writes it to the journal.
///
/// The pair of `run` and `step` is the identity of an effect: an engine that has already carried out a step answers
/// from its record and does nothing. So an adapter resumes an interrupted run by simply making the same calls again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// One client or session.
    pub conversation: ConversationId,
    /// The unit that must run at most once, such as a reply.
    pub run: RunKey,
    /// The first step of this call within the run, 0-based; item `i` of a batch is step `step + i`.
    pub step: u32,
    /// The time for which the engine should keep versions of files that this conversation was shown.
    pub retention: Retention,
}

impl Origin {
    /// Returns the same origin at another step.
    #[must_use]
    pub fn at_step(&self, step: u32) -> Origin {
        Origin { step, ..self.clone() }
    }
}

/// The time for which versions shown to a conversation are worth keeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// The conversation ends with the process: memory is enough.
    Process,
    /// The conversation may be resumed by another process: shown versions are kept in the journal.
    Durable,
}

/// The name of one client or session of any protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(pub String);

/// The key of a run, which is carried out at most once: the answer to one numbered prompt, by its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunKey {
    /// The answered prompt, 1-based; 0 for clients that do not number their prompts.
    pub sequence: u32,
    /// A digest of the answer, or a fresh random text for a client without sequences.
    pub digest: String,
}

impl RunKey {
    /// Returns the key of a call that is its own run; `random` must be unique.
    pub fn unnumbered(random: impl Into<String>) -> RunKey {
        RunKey { sequence: 0, digest: random.into() }
    }
}
