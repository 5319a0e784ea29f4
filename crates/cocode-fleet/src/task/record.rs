//! The record of a task, which only changes by compare-and-set.

use serde::{Deserialize, Serialize};

use crate::digest::BundleDigest;
use crate::names::HostName;

/// The state that a record gives a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It waits for a host.
    Pending,
    /// A host works on it.
    Running,
    /// A host claims to have finished; its claim has the outcome.
    Done,
    /// It was cancelled.
    Cancelled,
    /// It was given up after too many attempts.
    Dead,
}

impl RunState {
    /// Returns whether no host works on the task any more, or will.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, RunState::Done | RunState::Cancelled | RunState::Dead)
    }
}

/// One failed start of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The epoch of the start.
    pub epoch: u64,
    /// The host that started it.
    pub host: HostName,
    /// The reason, in words, at most 500 bytes.
    pub reason: String,
}

impl Attempt {
    /// The greatest length of a reason, in bytes.
    const REASON_BYTES: usize = 500;

    /// Returns the text of a reason on one line and within its limit. As JSON it is at most twice as long.
    pub(crate) fn reason(text: &str) -> String {
        let line: String = text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
        crate::text::cut(&line, Attempt::REASON_BYTES)
    }
}

/// The record of a task under `<run>.<agent>` in `runs`.
///
/// The epoch is the fence: every start raises it, and a writer has to have read the newest record. A record is whatever
/// a host or home wrote last, and proves nothing: home believes a claim under the keys of the host that the record
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The state.
    pub state: RunState,
    /// The number of the newest start, or of the newest publication by home.
    pub epoch: u64,
    /// The submission that it belongs to; see [`Task::generation`](crate::Task::generation).
    pub generation: String,
    /// The host that works on it, had it last, or has finished it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostName>,
    /// The digest of the bundle that the host claims, if it has one and has finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<BundleDigest>,
    /// The failed starts since the task was submitted or retried.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
}

impl RunRecord {
    /// Returns the record of a submission that no host has taken.
    #[must_use]
    pub fn pending(generation: &str, epoch: u64) -> RunRecord {
        RunRecord {
            state: RunState::Pending,
            epoch,
            generation: generation.to_owned(),
            host: None,
            result: None,
            attempts: Vec::new(),
        }
    }

    /// Returns whether a host has held the task under an epoch, by this record.
    pub(crate) fn was_held_by(&self, host: &HostName, epoch: u64) -> bool {
        let is_current = self.epoch == epoch && self.host.as_ref() == Some(host);
        is_current || self.attempts.iter().any(|attempt| attempt.epoch == epoch && attempt.host == *host)
    }

    /// Adds the start of this record to the failed attempts.
    pub(crate) fn give_up_attempt(&mut self, reason: &str) {
        if let Some(host) = self.host.take() {
            let reason = Attempt::reason(reason);
            self.attempts.push(Attempt { epoch: self.epoch, host, reason });
        }
    }
}
