//! The two ways in which the commands of a workflow run.

use std::path::Path;

use super::step_result::StepResult;
use super::workflow::WorkflowStep;
use crate::TaskError;

/// Runs the commands of one workflow in its folder.
pub(super) trait Shell {
    /// Runs a command to its end, or a background command until it is ready. `text` is the command with its
    /// placeholders filled in.
    ///
    /// # Errors
    ///
    /// If the command could not be run at all. A command that fails is a result.
    fn run(&mut self, step: &WorkflowStep, text: &str) -> Result<StepResult, TaskError>;

    /// Ends the background commands.
    ///
    /// # Errors
    ///
    /// If one could not be ended.
    fn stop_background(&mut self) -> Result<(), TaskError>;

    /// Returns the folder.
    fn folder(&self) -> &Path;
}
