//! The options and the outcome of applying a reply.

use sandbox_fs::FsError;
use tagproto::{CommandResult, RepairSet, Reply, Session};
use wap_core::Workspace;

use crate::inbox::file::InboxFile;

/// The options of applying a reply.
#[derive(Default)]
pub struct ApplyOptions<'a> {
    /// True to execute a text even if it was executed before as the answer to another message.
    pub again: bool,
    /// The message that the reply is meant for; `None` if the caller does not know it. If another message is pending, the
    /// reply is not executed, and a run that has already finished for that message is reported.
    pub answering: Option<u32>,
    /// True if the complete blocks of a reply that was cut off are executed at once, instead of being held until the model
    /// has gone on with it.
    pub run_complete: bool,
    /// True if a person has reviewed the reply and accepted it.
    pub confirmed: bool,
    /// The file that the reply came in. The caller moves it to `processed/` once the reply is executed; if it is killed
    /// before, opening the sessions does so.
    pub file: Option<&'a InboxFile>,
    /// The workspace through which the blocks are carried out, a view of the sessions' own; `None` for that one itself. A
    /// reviewer's choice is such a view.
    pub through: Option<&'a dyn Workspace>,
    /// The user's review of the reply, which the next outbox shows; empty without one.
    pub user_review: &'a str,
    /// The reviewer, which is called with the parsed reply before anything is executed.
    pub review: Option<&'a mut dyn FnMut(&Reply<'_>) -> Review>,
}

impl std::fmt::Debug for ApplyOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ApplyOptions")
            .field("again", &self.again)
            .field("answering", &self.answering)
            .field("run_complete", &self.run_complete)
            .field("confirmed", &self.confirmed)
            .field("file", &self.file)
            .field("user_review", &self.user_review)
            .finish_non_exhaustive()
    }
}

/// A reviewer's decision about a reply as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Execute it.
    Accept,
    /// Execute nothing of it.
    Decline,
}

/// The outcome of applying a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It was executed by this call, or its rest was.
    Executed(Box<Executed>),
    /// It was executed before; nothing was done.
    AlreadyDone {
        /// The sequence that it answered.
        sequence: u32,
        /// The results of that run.
        results: Vec<CommandResult>,
    },
}

/// A reply that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The session after the reply.
    pub session: Session,
    /// The sequence that the reply answered.
    pub sequence: u32,
    /// The result of each block.
    pub results: Vec<CommandResult>,
    /// The damage of pasting that was repaired.
    pub repairs: RepairSet,
    /// True if an earlier call had begun it.
    pub was_resumed: bool,
    /// The results of an interrupted reply to the same message, which this one supersedes. The next outbox reports them
    /// before `results`.
    pub taken_over: Vec<CommandResult>,
    /// The error if the files of the session could not be written. Everything is done and recorded, and opening the sessions
    /// writes them again.
    pub not_written: Option<FsError>,
}
