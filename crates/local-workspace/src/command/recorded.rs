//! The record of a command, read without carrying anything out.

use std::time::SystemTime;

use change_journal::{RunFilter, StepKind};
use wap_core::{ExecuteCommandResponse, Origin, WapError};

use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::runs::journal_key;
use crate::step_record::decode;

/// The record of a command in the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedCommand {
    /// It was started, and no end is recorded: it runs, or the process that ran it was killed.
    Started,
    /// It has ended.
    Ended {
        /// The time at which the end was recorded.
        at: SystemTime,
        /// The answer to the call.
        outcome: Result<ExecuteCommandResponse, WapError>,
    },
}

impl LocalWorkspace {
    /// Returns the record of the command that a call with this origin has run; `None` if none was started.
    ///
    /// # Errors
    ///
    /// Those of reading the journal.
    pub fn recorded_command(&self, origin: &Origin) -> Result<Option<RecordedCommand>, WapError> {
        let key = journal_key(origin);
        let filter = RunFilter { conversation: Some(key.conversation.clone()), ..RunFilter::default() };
        let reader = self.journal.reader();
        let runs = reader.runs(&filter, u32::MAX).map_err(journal_error)?;
        let Some(run) = runs.into_iter().find(|run| run.key == key) else { return Ok(None) };
        let steps = reader.steps(run.number).map_err(journal_error)?;
        let step =
            steps.into_iter().find(|step| step.index == origin.step && step.kind == StepKind::ShellCommand);
        let Some(step) = step else { return Ok(None) };
        match (step.outcome, step.finished_at) {
            (Some(outcome), Some(at)) => Ok(Some(RecordedCommand::Ended { at, outcome: decode(&outcome)? })),
            _ => Ok(Some(RecordedCommand::Started)),
        }
    }
}
