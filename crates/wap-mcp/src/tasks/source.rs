//! The tasks of a workspace, as its host keeps them.

use std::time::{Duration, SystemTime};

use wap_core::{Call, ExecuteCommand, ExecuteCommandResponse, WapError};

/// The tasks of a workspace. They belong to no client: each client sees all of them, and a task survives its client.
pub trait CommandTasks: Send + Sync {
    /// Begins a command as a task and returns it at once.
    ///
    /// # Errors
    ///
    /// [`WapError`] if it cannot begin: too many tasks run, for instance.
    fn begin(&self, call: &Call<'_>, command: &ExecuteCommand) -> Result<TaskView, WapError>;

    /// Returns a task, after waiting for its end for at most this long; `None` if there is none with this id, or not any
    /// more.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the tasks cannot be read.
    fn show(&self, call: &Call<'_>, id: &str, longest: Duration) -> Result<Option<TaskView>, WapError>;

    /// Cancels a task and returns it; one that is over stays as it is. `None` as for [`CommandTasks::show`].
    ///
    /// # Errors
    ///
    /// [`WapError`] if the tasks cannot be reached.
    fn cancel(&self, call: &Call<'_>, id: &str) -> Result<Option<TaskView>, WapError>;

    /// Lists tasks, the newest first, without their outputs; with `before`, those that were begun before that one.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the tasks cannot be read.
    fn list(&self, call: &Call<'_>, before: Option<&str>, limit: usize) -> Result<Vec<TaskView>, WapError>;
}

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskView {
    /// Its id, which cannot be guessed.
    pub id: String,
    /// The first line of its command.
    pub subject: String,
    /// The time at which it was begun.
    pub created: SystemTime,
    /// The time of its last change.
    pub updated: SystemTime,
    /// Its progress.
    pub progress: TaskProgress,
}

/// The progress of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskProgress {
    /// The command waits for its turn behind other commands.
    Waiting,
    /// The command runs.
    Running,
    /// A person has to review the command first.
    AwaitsReview {
        /// The name of the proposal, for the person.
        proposal: String,
    },
    /// It is over. An error with the reason `OutcomeUnknown` means that how the command ended is not known.
    Ended(Box<Result<ExecuteCommandResponse, WapError>>),
}
