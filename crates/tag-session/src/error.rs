//! Why a session operation failed.

use change_journal::JournalError;
use sandbox_fs::FsError;
use tagproto::{Refusal, ReplyTo, SessionId};
use wap_core::WapError;

/// Why a session operation failed. Nothing of a reply was executed unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no such session.
    #[error("there is no session {id}")]
    Unknown {
        /// The id that was asked for.
        id: String,
    },
    /// The session is complete: it takes no more replies.
    #[error("session {id} is complete")]
    Complete {
        /// The session.
        id: SessionId,
    },
    /// A session document in the journal, or one about a reply under way, cannot be read.
    #[error("session {id} cannot be read from the journal")]
    Damaged {
        /// The session.
        id: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The paste as a whole is damaged.
    #[error("the reply cannot be used (line {}): {}", .0.line_number, .0.kind)]
    Refused(Refusal),
    /// The reply quotes another session.
    #[error("the reply answers session {}, not {pending}", .quoted.session)]
    OtherSession {
        /// What the reply quotes.
        quoted: ReplyTo,
        /// The session that waits.
        pending: SessionId,
    },
    /// The reply quotes a sequence of this session that is not the pending one.
    #[error("the reply answers message {} of the session, and message {pending} is waiting", .quoted.sequence)]
    OtherSequence {
        /// What the reply quotes.
        quoted: ReplyTo,
        /// The pending sequence.
        pending: u32,
    },
    /// The reply is meant for a message that is not the pending one any more.
    #[error("the reply was meant for message {answering} of the session, and message {pending} is waiting")]
    MovedOn {
        /// The message that it was meant for.
        answering: u32,
        /// The pending sequence.
        pending: u32,
    },
    /// A file of the inbox is not there any more as it was read, or another caller is executing it.
    #[error("the file {name} of the inbox was taken by another session")]
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
    /// The same text was begun as the answer to another message of this session, and not finished.
    #[error("the same text was already begun as the answer to message {sequence}, and not finished")]
    KnownUnfinished {
        /// The sequence that it answered.
        sequence: u32,
    },
    /// The same reply, or another one to the same message, is being executed by another thread of this program.
    #[error("a reply to this message is being executed right now")]
    Busy,
    /// The same text was begun as a reply of another session and is not finished there.
    #[error("session {session} has begun this reply and not finished it")]
    BegunElsewhere {
        /// The other session.
        session: SessionId,
    },
    /// The reply runs commands, and whether they ran already is not known. Whoever has looked says `again`, in
    /// [`ApplyOptions`](crate::ApplyOptions).
    #[error("the journal of this session was lost, so nobody knows whether these commands ran already")]
    HistoryLost,
    /// The journal does not hold the beginning of the session.
    #[error("the beginning of session {id} is not in the journal")]
    Unrecorded {
        /// The session.
        id: SessionId,
    },
    /// The reply is empty.
    #[error("the reply is empty")]
    Empty,
    /// Whoever reviewed the reply did not want it.
    #[error("the reply was not accepted")]
    Declined,
    /// The reply was stopped in the middle; what was done stays done, and the rest follows when it is applied again.
    #[error("stopped in the middle of the reply")]
    Interrupted,
    /// The workspace as a whole failed; what was done stays done, and the rest follows when it is applied again.
    #[error("the workspace failed: {0}")]
    Workspace(WapError),
    /// The journal failed.
    #[error("the journal failed: {0}")]
    Journal(#[from] JournalError),
    /// A file of the state folder cannot be read or written.
    #[error("the state folder cannot be used: {0}")]
    Files(#[from] FsError),
}
