//! Owns the words for steps: what is recorded about one, and what a resumed run remembers.

use std::time::SystemTime;

use crate::change::ChangeRecord;
use crate::run::RunNumber;

/// What sort of thing a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// It changes files.
    FileChange,
    /// It runs a shell command, and nobody knows how it ended if the process dies meanwhile.
    ShellCommand,
    /// It only looks.
    Reading,
}

/// A step that is recorded together with its outcome, in one commit.
#[derive(Clone, Debug)]
pub struct StepRecord<'a> {
    /// What sort of step it is.
    pub kind: StepKind,
    /// One line for people who read the log.
    pub description: &'a str,
    /// What the step gives; opaque to the journal.
    pub outcome: &'a [u8],
    /// What it does to paths.
    pub changes: Vec<ChangeRecord<'a>>,
}

/// A step as it reads back from the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedStep {
    /// The run that it belongs to.
    pub run: RunNumber,
    /// Its place in the run, 0-based.
    pub index: u32,
    /// What sort of step it is.
    pub kind: StepKind,
    /// One line for people.
    pub description: String,
    /// When it was started, to the millisecond.
    pub started_at: SystemTime,
    /// When its outcome was recorded, to the millisecond.
    pub finished_at: Option<SystemTime>,
    /// What it gave; `None` if it was started and its end was never recorded.
    pub outcome: Option<Vec<u8>>,
}

/// What a resumed run remembers of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall<'a> {
    /// Nothing: do it.
    NotStarted,
    /// It was started and nobody knows how it ended. It must not be done again: record that with
    /// [`Journal::finish_step`](crate::Journal::finish_step).
    Unknown,
    /// It is done, and this is its outcome.
    Finished(&'a [u8]),
}

/// The steps that a resumed run has already recorded, in order of their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumedSteps(pub(crate) Vec<RecordedStep>);

impl ResumedSteps {
    /// What is known about the step at `index` (0-based).
    pub fn recall(&self, index: u32) -> Recall<'_> {
        match self.0.binary_search_by_key(&index, |step| step.index) {
            Err(_) => Recall::NotStarted,
            Ok(place) => self.0[place].outcome.as_deref().map_or(Recall::Unknown, Recall::Finished),
        }
    }

    /// The steps whose end is unknown.
    pub fn unknown(&self) -> impl Iterator<Item = &RecordedStep> {
        self.0.iter().filter(|step| step.outcome.is_none())
    }

    /// All recorded steps.
    pub fn all(&self) -> &[RecordedStep] {
        &self.0
    }
}
