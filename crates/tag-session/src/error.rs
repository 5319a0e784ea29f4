//! The errors of session operations.

use change_journal::JournalError;
use sandbox_fs::FsError;
use tagproto::{Refusal, ReplyTo, SessionId};
use wap_core::WapError;

/// The failure of a session operation. No part of a reply was executed unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no such session.
    #[error("there is no session {id}")]
    Unknown {
        /// The requested id.
        id: String,
    },
    /// An answer to the model is empty or too long.
    #[error("an answer has between 1 and {limit} characters")]
    AnswerLength {
        /// The maximum number of characters of all answers to one message.
        limit: usize,
    },
    /// The session is complete: it accepts no more replies.
    #[error("session {id} is complete")]
    Complete {
        /// The session.
        id: SessionId,
    },
    /// The document of a session, or of a reply under way, cannot be read from the journal.
    #[error("session {id} cannot be read from the journal")]
    Damaged {
        /// The session.
        id: String,
        /// The fault of the document.
        source: serde_json::Error,
    },
    /// The whole paste is damaged.
    #[error("the reply cannot be used (line {}): {}", .0.line_number, .0.kind)]
    Refused(Refusal),
    /// The reply quotes another session.
    #[error("the reply answers session {}, not {pending}", .quoted.session)]
    OtherSession {
        /// The token of the reply.
        quoted: ReplyTo,
        /// The waiting session.
        pending: SessionId,
    },
    /// The reply quotes a session that does not exist here.
    #[error("the reply answers session {}, and this workspace has no such session", .quoted.session)]
    UnknownSession {
        /// The token of the reply.
        quoted: ReplyTo,
        /// The waiting session.
        pending: SessionId,
    },
    /// The reply quotes a sequence of this session that is not the pending one.
    #[error("the reply answers message {} of the session, and message {pending} is waiting", .quoted.sequence)]
    OtherSequence {
        /// The token of the reply.
        quoted: ReplyTo,
        /// The pending sequence.
        pending: u32,
    },
    /// The reply is meant for a message that is no longer pending.
    #[error("the reply was meant for message {answering} of the session, and message {pending} is waiting")]
    MovedOn {
        /// The message for which it was meant.
        answering: u32,
        /// The pending sequence.
        pending: u32,
    },
    /// A file of the inbox was removed or changed since it was read, or another caller is executing it.
    #[error("the file {name} of the inbox was taken by another session, or is another reply by now")]
    Taken {
        /// The file's name within the inbox.
        name: String,
    },
    /// The same text was executed as the answer to another message of this session.
    #[error("the same text was already executed as the answer to message {sequence}")]
    KnownText {
        /// The sequence that it answered.
        sequence: u32,
    },
    /// The same text already arrived and is held, because it was cut off: no part of it was done.
    #[error(
        "the same text already arrived as the answer to message {sequence}: it was cut off, and nothing of it was done"
    )]
    StillHeld {
        /// The sequence that it answered.
        sequence: u32,
    },
    /// Blocks of the held reply began to run in another reply, which is not finished.
    #[error(
        "blocks of the reply that was cut off have begun to run and are not finished, and this is another reply"
    )]
    HeldHasBegun,
    /// The same text already arrived as the answer to another message of this session, and gave no results.
    #[error("the same text already arrived as the answer to message {sequence}, which gave no results")]
    KnownWithoutResults {
        /// The sequence that it answered.
        sequence: u32,
    },
    /// The same text was begun as the answer to another message of this session, but not finished.
    #[error("the same text was already begun as the answer to message {sequence}, and not finished")]
    KnownUnfinished {
        /// The sequence that it answered.
        sequence: u32,
    },
    /// Another thread of this program is executing the same reply, or another reply to the same message.
    #[error("a reply to this message is being executed right now")]
    Busy,
    /// The same text was begun as a reply of another session, but not finished there.
    #[error("session {session} has begun this reply and not finished it")]
    BegunElsewhere {
        /// The other session.
        session: SessionId,
    },
    /// The reply runs commands, and it is unknown whether they have already run. A caller that has checked this sets `again` in
    /// [`ApplyOptions`](crate::ApplyOptions).
    #[error(
        "the journal of this session was lost, so it is not known whether these commands have already run"
    )]
    HistoryLost,
    /// The journal does not contain the beginning of the session.
    #[error("the beginning of session {id} is not in the journal")]
    Unrecorded {
        /// The session.
        id: SessionId,
    },
    /// The reply is empty.
    #[error("the reply is empty")]
    Empty,
    /// The reviewer declined the reply.
    #[error("the reply was not accepted")]
    Declined,
    /// The reply was interrupted; finished blocks stay done, and applying it again executes the rest.
    #[error("stopped in the middle of the reply")]
    Interrupted,
    /// The whole workspace failed; finished blocks stay done, and applying the reply again executes the rest.
    #[error("the workspace failed: {0}")]
    Workspace(WapError),
    /// The journal failed.
    #[error("the journal failed: {0}")]
    Journal(#[from] JournalError),
    /// A file of the state folder cannot be read or written.
    #[error("the state folder cannot be used: {0}")]
    Files(#[from] FsError),
}
