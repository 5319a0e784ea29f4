//! The worker's side: what a task does.

use std::path::Path;

use super::StopSignal;
use crate::task::{ClaimedState, HostOffer, Task};

/// Carries out tasks on one host.
///
/// All calls block; each comes on a thread of its own, several at once. Bundles come and go as files.
pub trait TaskExecutor: Send + Sync + 'static {
    /// Returns what the host offers at this moment. It is asked before every task and for every report.
    fn offers(&self) -> HostOffer;

    /// Returns whether the host has a commit with its history already, so that no bundle of it has to be fetched.
    fn has_base(&self, commit: &str) -> bool;

    /// Adds a bundle, whose digest was checked, to the host's objects; afterwards `has_base(tip)` holds.
    ///
    /// # Errors
    ///
    /// [`ExecuteError::BaseUnusable`] if the bundle does not lead to `tip`; [`ExecuteError::Failed`] for other failures.
    fn add_base(&self, bundle: &Path, tip: &str) -> Result<(), ExecuteError>;

    /// Runs a task to its end and writes the bundle with the agent's commits, if there are any, to `result_file`, which does
    /// not exist yet. Ends soon after `stop` is raised; the worker then uses nothing of the outcome.
    ///
    /// # Errors
    ///
    /// [`ExecuteError`] if the agent could not be run; the task is then tried again, here or elsewhere. An agent that ran and
    /// failed is an outcome.
    fn execute(
        &self,
        task: &Task,
        stop: &StopSignal,
        events: &mut dyn EventSink,
        result_file: &Path,
    ) -> Result<TaskOutcome, ExecuteError>;
}

/// Takes what an agent prints. It never blocks: lines that come faster than they can be sent are counted and left out.
pub trait EventSink: Send {
    /// Reports one line of the agent's log.
    fn log_line(&mut self, line: &str);
}

/// The end of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOutcome {
    /// The state.
    pub state: ClaimedState,
    /// The exit code, if the agent ended by itself.
    pub exit_code: Option<i32>,
    /// True if it left nothing uncommitted, and none if its definition does not ask.
    pub is_clean: Option<bool>,
    /// The commit at which it ended, if it is a new one.
    pub head: Option<String>,
    /// True if `result_file` holds a bundle.
    pub has_bundle: bool,
    /// Further words, at most 8 KiB.
    pub detail: String,
}

/// A task that could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// A bundle of the base does not hold what it should. Home uploads it again.
    #[error("the base is unusable: {0}")]
    BaseUnusable(String),
    /// Something else failed on this host.
    #[error("{0}")]
    Failed(String),
}
