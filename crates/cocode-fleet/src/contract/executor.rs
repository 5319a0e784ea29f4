//! The worker's side: carrying out tasks.

use std::path::Path;

use super::StopSignal;
use crate::task::{ClaimedState, HostOffer, Task};

/// Carries out tasks on one host.
///
/// All calls block; each runs on a separate thread, several at once. Bundles are passed as files.
pub trait TaskExecutor: Send + Sync + 'static {
    /// Returns the host's current offer. It is called before every task and for every report.
    fn offers(&self) -> HostOffer;

    /// Returns whether the host already has a commit with its history, so that no bundle of it has to be fetched.
    fn has_base(&self, commit: &str) -> bool;

    /// Adds a bundle, whose digest was checked, to the host's objects; afterwards `has_base(tip)` is true.
    ///
    /// # Errors
    ///
    /// [`ExecuteError::BaseUnusable`] if the bundle does not lead to `tip`; [`ExecuteError::Failed`] for other failures.
    fn add_base(&self, bundle: &Path, tip: &str) -> Result<(), ExecuteError>;

    /// Runs a task to its end and writes the bundle with the agent's commits, if there are any, to `result_file`, which
    /// does not exist yet. Ends soon after `stop` is raised; the worker then ignores the outcome.
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

/// Receives an agent's output. It never blocks: lines that arrive faster than they can be sent are counted and dropped.
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
    /// True if it left nothing uncommitted; none if its definition does not ask.
    pub is_clean: Option<bool>,
    /// The commit at which it ended, if it is new.
    pub head: Option<String>,
    /// True if `result_file` holds a bundle.
    pub has_bundle: bool,
    /// Further details, at most 8 KiB.
    pub detail: String,
}

/// A task that could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// A bundle of the base lacks its content. Home uploads it again.
    #[error("the base is unusable: {0}")]
    BaseUnusable(String),
    /// Something else failed on this host.
    #[error("{0}")]
    Failed(String),
}
