//! The record of a command, read without side effects.

use std::time::SystemTime;

use change_journal::{RunFilter, StepKind};
use wap_core::{ExecuteCommandResponse, Origin, WapError};

use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::runs::journal_key;
use crate::step_record::decode;

/// The record of a command that was started.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCommand {
    /// Its end; `None` if none is recorded: it still runs, or the process that ran it was killed.
    pub end: Option<CommandEnd>,
}

/// The recorded end of a command.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandEnd {
    /// The time at which it was recorded.
    pub at: SystemTime,
    /// The answer to the call.
    pub outcome: Result<ExecuteCommandResponse, WapError>,
}

impl LocalWorkspace {
    /// Returns the record of the command that a call with this origin has run; `None` if none was started.
    ///
    /// # Errors
    ///
    /// If reading the journal fails.
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
        let end = match (step.outcome, step.finished_at) {
            (Some(outcome), Some(at)) => Some(CommandEnd { at, outcome: decode(&outcome)? }),
            _ => None,
        };
        Ok(Some(RecordedCommand { end }))
    }
}
