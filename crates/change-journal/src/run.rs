//! Owns the types for runs: the key of a run, the result of beginning one, and its record.

use std::fmt;
use std::time::SystemTime;

use crate::open_runs::Run;
use crate::step::ResumedSteps;
use content_hash::ContentHash;

/// The identity of a run: the conversation, its step that the run answers, and the content of the request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// One client or session.
    pub conversation: String,
    /// The step of the conversation that the run answers.
    pub sequence: u64,
    /// The hash of the whole request.
    pub content: ContentHash,
}

impl RunKey {
    /// Returns a key for a caller without sequences, whose every call is a separate run.
    ///
    /// `unique` must never repeat in one conversation; a random identifier serves.
    pub fn once(conversation: impl Into<String>, unique: &[u8]) -> Self {
        Self { conversation: conversation.into(), sequence: 0, content: ContentHash::of(unique) }
    }

    /// Returns whether `other` requests the same content in the same conversation under another sequence.
    pub(crate) fn is_repeated_by(&self, other: &Self) -> bool {
        self.conversation == other.conversation
            && self.content == other.content
            && self.sequence != other.sequence
    }
}

/// The number of a run in one journal. Later runs have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunNumber(pub u64);

impl fmt::Display for RunNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The state of a run that a caller wants to begin, which decides what the caller may do.
#[derive(Debug)]
#[must_use = "the state says whether anything may be done at all"]
pub enum RunState {
    /// The journal has no record of it: do all of it.
    New(Run),
    /// It was begun and never finished: resume it, once the changes that
    /// [`unsettled_changes`](crate::JournalReader::unsettled_changes) lists are redone.
    Resumed {
        /// The run, open again under its old number.
        run: Run,
        /// The recorded steps.
        steps: ResumedSteps,
    },
    /// It is finished: do nothing, and report this outcome.
    Finished {
        /// The run that did it.
        number: RunNumber,
        /// The outcome passed to [`Journal::finish_run`](crate::Journal::finish_run).
        outcome: Vec<u8>,
    },
    /// Another caller in this process is doing it now: do nothing, unless acting on behalf of that caller.
    InProgress {
        /// The run that does it.
        number: RunNumber,
    },
    /// The same content was requested under another sequence of this conversation: do nothing, unless the
    /// user or an unmistakable token asks for a repetition; then use
    /// [`Journal::begin_run_again`](crate::Journal::begin_run_again).
    KnownElsewhere {
        /// The latest such run.
        number: RunNumber,
        /// Its key.
        key: RunKey,
        /// `true` if that run is finished.
        finished: bool,
    },
}

/// A run as it reads back from the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedRun {
    /// Its number.
    pub number: RunNumber,
    /// Its key.
    pub key: RunKey,
    /// The time at which it began, to the millisecond.
    pub began_at: SystemTime,
    /// The time at which it finished, to the millisecond; `None` for an unfinished run.
    pub finished_at: Option<SystemTime>,
    /// Its outcome; `None` for an unfinished run.
    pub outcome: Option<Vec<u8>>,
}

/// A filter for listing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of this conversation.
    pub conversation: Option<String>,
    /// Only runs before this one, exclusive.
    pub before: Option<RunNumber>,
    /// Only runs that are not finished.
    pub unfinished: bool,
}
