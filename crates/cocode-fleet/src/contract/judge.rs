//! Home's side: its journal of submitted tasks, and its judgement of what hosts deliver.

use std::path::PathBuf;

use crate::names::{HostName, TaskName};
use crate::task::{BaseBundle, Claim, Task, Unmet};

/// Home's journal and judgement.
///
/// All calls block and run on separate threads; those about different tasks run concurrently. The journal is the truth:
/// a task is resolved when the journal says so, and anything lost by the server is submitted again.
pub trait ResultJudge: Send + Sync + 'static {
    /// Returns the names of the tasks that are submitted and not resolved.
    ///
    /// # Errors
    ///
    /// [`JudgeError`] if the journal cannot be read; it is asked again later.
    fn unresolved(&self) -> Result<Vec<TaskName>, JudgeError>;

    /// Returns a submitted task with the files of its bundles.
    ///
    /// # Errors
    ///
    /// [`JudgeError`] if the journal does not have it, or cannot be read; it is asked again later.
    fn task(&self, name: &TaskName) -> Result<SubmittedTask, JudgeError>;

    /// Returns the greatest epoch that was noticed for a task; 0 if none was.
    ///
    /// A server that lost unsynced data goes back to lower epochs; home then continues above this one.
    ///
    /// # Errors
    ///
    /// [`JudgeError`] if the journal cannot be read; it is asked again later.
    fn last_epoch(&self, name: &TaskName) -> Result<u64, JudgeError>;

    /// Reports an event of a task, for people and for the journal.
    fn notice(&self, name: &TaskName, notice: &Notice);

    /// Reports lines of an agent's log, from the host that works on the task. `left_out` is the number of lines before
    /// these that the host dropped.
    fn log_lines(&self, name: &TaskName, host: &HostName, lines: &[String], left_out: u64);

    /// Judges a delivery and records the judgement durably; afterwards the task is resolved. It may be called twice for
    /// the same task: after a crash, and for another host after a failure.
    ///
    /// # Errors
    ///
    /// [`JudgeError::NotBelieved`] if the delivery is not what it claims to be, such as a bundle without the commit: the task
    /// is given to a host again. [`JudgeError::Failed`] if home itself failed: the same delivery is judged again later.
    fn judge(&self, delivery: &Delivered) -> Result<(), JudgeError>;

    /// Records durably that a task was cancelled, at home's own request, or given up; afterwards it is resolved.
    ///
    /// # Errors
    ///
    /// [`JudgeError`] if it could not be recorded; it comes again later.
    fn ended(&self, name: &TaskName, end: &Notice) -> Result<(), JudgeError>;

    /// Reports that the server can be reached, or the problem if not. Nothing is lost in the meantime: tasks wait in
    /// the journal.
    fn connection_changed(&self, problem: Option<&str>);
}

/// A task in home's journal.
#[derive(Clone, Debug)]
pub struct SubmittedTask {
    /// The task.
    pub task: Task,
    /// The files of its bundles, in the order of [`Task::bases`].
    pub bases: Vec<BaseFile>,
}

/// A bundle of the base as a file of home.
#[derive(Clone, Debug)]
pub struct BaseFile {
    /// The bundle as the task names it.
    pub base: BaseBundle,
    /// The file that holds it.
    pub path: PathBuf,
}

/// A delivery of a host: a claim under its own keys, and the bundle that the claim names.
#[derive(Debug)]
pub struct Delivered {
    /// The task as home's journal has it.
    pub task: Task,
    /// The host under whose keys the claim is.
    pub host: HostName,
    /// The epoch of claim and record.
    pub epoch: u64,
    /// The claim. Nothing in it is proved.
    pub claim: Claim,
    /// The bundle, whose digest is the claimed one; the file is removed after the call.
    pub bundle: Option<PathBuf>,
}

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// It is in the queue.
    Queued {
        /// The epoch under which it was published.
        epoch: u64,
    },
    /// The queue is full; the task waits at home.
    QueueFull {
        /// The number of tasks in the queue.
        waiting: u64,
    },
    /// A host works on it.
    Running {
        /// The host.
        host: HostName,
        /// The epoch.
        epoch: u64,
    },
    /// A host claims to have finished; the delivery is fetched and judged.
    Delivered {
        /// The host.
        host: HostName,
        /// The epoch.
        epoch: u64,
    },
    /// A host's claim was not believed; the task was published again.
    NotBelieved {
        /// The host that the record named, if any.
        host: Option<HostName>,
        /// The epoch that was not believed.
        epoch: u64,
        /// The reason.
        reason: String,
    },
    /// The task was missing on the server, and was published again.
    PublishedAgain {
        /// The new epoch.
        epoch: u64,
    },
    /// A bundle of the base was uploaded again.
    BaseUploadedAgain {
        /// The reason that a host gave.
        reason: String,
    },
    /// No host of the fleet meets the needs of the task: the unmet needs of each host. Without hosts the list is empty.
    NoHostFits {
        /// The hosts, and the needs that each does not meet.
        hosts: Vec<(HostName, Vec<Unmet>)>,
    },
    /// A host finished after the task had been given to another.
    LateUnused {
        /// The host.
        host: HostName,
        /// The reason.
        reason: String,
    },
    /// A start failed.
    AttemptFailed {
        /// The host.
        host: HostName,
        /// The reason.
        reason: String,
    },
    /// It was cancelled.
    Cancelled,
    /// It was given up; with the hosts' reasons, one for each attempt.
    Dead {
        /// The reasons.
        reasons: Vec<String>,
    },
    /// The task cannot be published as it is.
    Unpublishable {
        /// The reason.
        reason: String,
    },
}

/// A call of the judge that did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The delivery is not what it claims to be.
    #[error("{0}")]
    NotBelieved(String),
    /// Home itself failed.
    #[error("{0}")]
    Failed(String),
}
