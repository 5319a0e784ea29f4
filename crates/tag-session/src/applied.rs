//! The options and the outcome of applying a reply.

use sandbox_fs::FsError;
use tagproto::{CommandResult, RepairSet, Reply, Session};
use wap_core::Workspace;

use crate::inbox::file::InboxFile;

/// The options of applying a reply.
#[derive(Default)]
pub struct ApplyOptions<'a> {
    /// True to execute a text even if it was already executed as the answer to another message.
    pub again: bool,
    /// The message that the reply is meant for, if known. If another message is pending, the reply is not executed, and a run
    /// that already finished for that message is reported.
    pub answering: Option<u32>,
    /// True if the complete blocks of a reply that was cut off are executed at once, instead of being held until the model
    /// continues it.
    pub run_complete: bool,
    /// True if a person reviewed and accepted the reply.
    pub confirmed: bool,
    /// The file of the reply. The caller moves it to `processed/` once the reply is executed; if the caller is killed before,
    /// opening the sessions moves it.
    pub file: Option<&'a InboxFile>,
    /// A view of the sessions' workspace through which the blocks are carried out, such as a reviewer's choice; `None` for the
    /// workspace itself.
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

/// A reviewer's decision about a whole reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Execute it.
    Accept,
    /// Execute no part of it.
    Decline,
}

/// The outcome of applying a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The reply, or the rest of it, was executed by this call.
    Executed(Box<Executed>),
    /// The reply was already executed; nothing was done.
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
    /// The repaired damage of pasting.
    pub repairs: RepairSet,
    /// True if an earlier call had begun it.
    pub was_resumed: bool,
    /// The results of an interrupted reply to the same message, which this reply supersedes. The next outbox reports them before
    /// `results`.
    pub taken_over: Vec<CommandResult>,
    /// The error if the files of the session could not be written. The reply is executed and recorded, and opening the sessions
    /// rewrites the files.
    pub not_written: Option<FsError>,
}
