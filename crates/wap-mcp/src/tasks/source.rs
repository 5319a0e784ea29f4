//! The tasks of a workspace at its host.

use std::time::{Duration, SystemTime};

use wap_core::{Call, ExecuteCommand, ExecuteCommandResponse, WapError};

/// The tasks of a workspace. They do not belong to a client: every client sees all of them, and a task survives its client.
pub trait CommandTasks: Send + Sync {
    /// Begins a command as a task and returns it immediately.
    ///
    /// # Errors
    ///
    /// [`WapError`] if it cannot begin, for example because too many tasks run.
    fn begin(&self, call: &Call<'_>, command: &ExecuteCommand) -> Result<TaskView, WapError>;

    /// Returns a task, after waiting at most `longest` for its end; `None` if there is none, or no longer one, with this id.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the tasks cannot be read.
    fn show(&self, call: &Call<'_>, id: &str, longest: Duration) -> Result<Option<TaskView>, WapError>;

    /// Cancels a task and returns it; an ended one stays unchanged. `None` as for [`CommandTasks::show`].
    ///
    /// # Errors
    ///
    /// [`WapError`] if the tasks cannot be reached.
    fn cancel(&self, call: &Call<'_>, id: &str) -> Result<Option<TaskView>, WapError>;

    /// Lists tasks, newest first, without their outputs; with `before`, those begun before that task.
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
    /// The command waits for other commands.
    Waiting,
    /// The command runs.
    Running,
    /// A person has to review the command first.
    AwaitsReview {
        /// The name of the proposal, for the person.
        proposal: String,
    },
    /// The task has ended. An error with the reason `OutcomeUnknown` means that the command's outcome is unknown.
    Ended(Box<Result<ExecuteCommandResponse, WapError>>),
}
