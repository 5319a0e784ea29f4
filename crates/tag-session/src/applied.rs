//! What applying a reply means and gives.

use sandbox_fs::FsError;
use tagproto::{CommandResult, RepairSet, Reply, Session};

use crate::inbox::file::InboxFile;

/// How a reply is applied.
#[derive(Default)]
pub struct ApplyOptions<'a> {
    /// Execute a text even if it was executed before as the answer to another message.
    pub again: bool,
    /// The message that the reply is meant for, where the caller knows it. If another one is pending, the reply is not
    /// executed; that it was finished as the answer to that message is reported.
    pub answering: Option<u32>,
    /// Whether a person has seen what the reply does and wants it.
    pub confirmed: bool,
    /// The file that the reply came in. It is to be moved to `processed/` once the reply is executed; if that does not
    /// come about any more, opening the sessions makes up for it.
    pub file: Option<&'a InboxFile>,
    /// Asked with the reply as it was read, before anything is executed.
    pub review: Option<&'a mut dyn FnMut(&Reply<'_>) -> Review>,
}

impl std::fmt::Debug for ApplyOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ApplyOptions")
            .field("again", &self.again)
            .field("answering", &self.answering)
            .field("confirmed", &self.confirmed)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// What a reviewer decides about a reply as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Execute it.
    Accept,
    /// Do not; nothing happens.
    Decline,
}

/// What applying a reply came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It was executed now, or its rest was.
    Executed(Box<Executed>),
    /// It was executed before; nothing was done.
    AlreadyDone {
        /// The sequence that it answered then.
        sequence: u32,
        /// The results that it gave then.
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
    /// What each block gave.
    pub results: Vec<CommandResult>,
    /// What was undone of pasting.
    pub repairs: RepairSet,
    /// Whether an earlier process had begun it.
    pub was_resumed: bool,
    /// What another reply to the same message had done before it was stopped; it will not be gone on with. The next
    /// outbox tells it before `results`.
    pub taken_over: Vec<CommandResult>,
    /// Why the files of the session could not be written, if they could not. All is done and recorded, and opening the
    /// sessions writes them again.
    pub not_written: Option<FsError>,
}
