//! Owns the words for runs: what names one, what beginning one can find, and how one reads back.

use std::fmt;
use std::time::SystemTime;

use crate::hash::ContentHash;
use crate::open_runs::Run;
use crate::step::ResumedSteps;

/// What makes a run the same run: who asked, which of their steps it answers, and the text that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// One client or session.
    pub conversation: String,
    /// The step of the conversation that the run answers.
    pub sequence: u64,
    /// The hash of everything that the run was asked to do.
    pub content: ContentHash,
}

impl RunKey {
    /// A key for a caller without sequences, whose every call is a run of its own.
    ///
    /// `unique` must never come twice in one conversation, such as a random identifier.
    pub fn once(conversation: impl Into<String>, unique: &[u8]) -> Self {
        Self { conversation: conversation.into(), sequence: 0, content: ContentHash::of(unique) }
    }

    /// Whether `other` asks for the same content in the same conversation under another sequence.
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

/// What the journal knows about a run that somebody wants to begin.
#[derive(Debug)]
#[must_use = "the state says whether anything may be done at all"]
pub enum RunState {
    /// Nobody has seen it: do all of it.
    New(Run),
    /// It was begun and never finished: go on where it stopped.
    Resumed {
        /// The run, open again under its old number.
        run: Run,
        /// What is already decided about its steps.
        steps: ResumedSteps,
    },
    /// It is done: do nothing, report this.
    Finished {
        /// The run that did it.
        number: RunNumber,
        /// What was given to [`Journal::finish_run`](crate::Journal::finish_run).
        outcome: Vec<u8>,
    },
    /// Somebody in this process is doing it right now: do nothing.
    InProgress {
        /// The run that does it.
        number: RunNumber,
    },
    /// The same content was asked for under another sequence of this conversation: do nothing unless
    /// a person or an unmistakable token says so, and then use
    /// [`Journal::begin_run_again`](crate::Journal::begin_run_again).
    KnownElsewhere {
        /// The latest such run.
        number: RunNumber,
        /// Its key.
        key: RunKey,
        /// Whether it is done.
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
    /// When it was begun, to the millisecond.
    pub began_at: SystemTime,
    /// When it was finished, to the millisecond; `None` while it is not.
    pub finished_at: Option<SystemTime>,
    /// What it gave; `None` while it is not finished.
    pub outcome: Option<Vec<u8>>,
}

/// Which runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of this conversation.
    pub conversation: Option<String>,
    /// Only runs before this one, exclusive.
    pub before: Option<RunNumber>,
    /// Only runs that are not finished.
    pub unfinished: bool,
}
