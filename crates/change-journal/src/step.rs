//! Owns the types for steps: the record of one, and what a resumed run recalls of it.

use std::time::SystemTime;

use crate::change::ChangeRecord;
use crate::run::RunNumber;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// It changes files.
    FileChange,
    /// It runs a shell command. If the process dies during it, its result is unknown.
    ShellCommand,
    /// It only reads.
    Reading,
}

/// A step that is recorded together with its outcome, in one commit.
#[derive(Clone, Debug)]
pub struct StepRecord<'a> {
    /// The kind of the step.
    pub kind: StepKind,
    /// One line for the log.
    pub description: &'a str,
    /// The result of the step; opaque to the journal.
    pub outcome: &'a [u8],
    /// Its changes to paths.
    pub changes: Vec<ChangeRecord<'a>>,
}

/// A step as it reads back from the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedStep {
    /// The run that it belongs to.
    pub run: RunNumber,
    /// Its index in the run, 0-based.
    pub index: u32,
    /// The kind of the step.
    pub kind: StepKind,
    /// One line for the log.
    pub description: String,
    /// The time at which it started, to the millisecond.
    pub started_at: SystemTime,
    /// The time at which its outcome was recorded, to the millisecond.
    pub finished_at: Option<SystemTime>,
    /// Its outcome; `None` if it started and no outcome was recorded.
    pub outcome: Option<Vec<u8>>,
}

/// The recorded state of one step of a resumed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall<'a> {
    /// Not recorded: do it.
    NotStarted,
    /// It started, and its result is unknown. It must not be repeated: record an outcome with
    /// [`Journal::finish_step`](crate::Journal::finish_step).
    Unknown,
    /// It is finished, with this outcome.
    Finished(&'a [u8]),
}

/// The steps that a resumed run has already recorded, in order of their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumedSteps(pub(crate) Vec<RecordedStep>);

impl ResumedSteps {
    /// Returns the recorded state of the step at `index` (0-based).
    pub fn recall(&self, index: u32) -> Recall<'_> {
        match self.0.binary_search_by_key(&index, |step| step.index) {
            Err(_) => Recall::NotStarted,
            Ok(position) => self.0[position].outcome.as_deref().map_or(Recall::Unknown, Recall::Finished),
        }
    }

    /// Returns the steps whose result is unknown.
    pub fn unknown(&self) -> impl Iterator<Item = &RecordedStep> {
        self.0.iter().filter(|step| step.outcome.is_none())
    }

    /// Returns all recorded steps.
    pub fn all(&self) -> &[RecordedStep] {
        &self.0
    }
}
