//! Owns the errors of opening and of using a journal. None of their texts names a path of the host.

use std::fmt;
use std::io;

use crate::run::RunNumber;
use content_hash::ContentHash;

/// An error of opening a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process, or another handle in this one, has it open.
    #[error("the journal is in use{}", process_id.map(|id| format!(" by process {id}")).unwrap_or_default())]
    Held {
        /// The holder, if it could be determined.
        process_id: Option<u32>,
    },
    /// It was written by a newer version of this program.
    #[error("the journal has schema {found}, this program knows schemas up to {supported}")]
    Newer {
        /// The schema of the database.
        found: u32,
        /// The schema of the database.
        supported: u32,
    },
    /// It, or its folder, cannot be written.
    #[error("the journal's folder is read-only")]
    ReadOnly,
    /// The operating system refuses access to it or its folder.
    #[error("access to the journal's folder is denied")]
    Denied,
    /// Its folder, or for a reader the journal itself, does not exist.
    #[error("the journal does not exist")]
    Missing,
    /// The disk is full.
    #[error("no space is left for the journal")]
    NoSpace,
    /// A reader found it damaged. Opening the journal to write quarantines the database.
    #[error("the journal is damaged")]
    Damaged,
    /// A reader read damaged pages. Opening the journal to write quarantines the database.
    #[error("the journal's files cannot be used")]
    Io(#[source] io::Error),
    /// The database failed otherwise.
    #[error("the journal's database cannot be used")]
    Database(#[source] DatabaseFailure),
}

/// An error of reading from or writing to a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The disk is full. Nothing of the write was kept; the journal works again after space is freed.
    #[error("no space is left for the journal")]
    NoSpace,
    /// The journal's files became read-only. Nothing of the write was kept.
    #[error("the journal is read-only")]
    ReadOnly,
    /// The run was never begun in this process, is finished, or its handle was dropped.
    #[error("run {run} is not open")]
    RunNotOpen {
        /// The run.
        run: RunNumber,
    },
    /// The step is already recorded. Nothing of the write was kept.
    #[error("step {index} of run {run} is already recorded")]
    StepRecorded {
        /// The run.
        run: RunNumber,
        /// The step, 0-based.
        index: u32,
    },
    /// The step was never started or has its outcome already. Nothing of the write was kept.
    #[error("step {index} of run {run} has no pending outcome")]
    StepNotOpen {
        /// The run.
        run: RunNumber,
        /// The step, 0-based.
        index: u32,
    },
    /// A run cannot be finished while one of its steps has no outcome. Nothing of the write was kept.
    #[error("step {index} of run {run} has no outcome yet")]
    StepUnfinished {
        /// The run.
        run: RunNumber,
        /// The change to undo does not exist.
        index: u32,
    },
    /// Both sides of a change are `None`.
    #[error("a change needs a before side or an after side")]
    EmptyChange,
    /// The change to undo does not exist.
    #[error("the change to undo does not exist")]
    UnknownUndo,
    /// A value exceeds the journal's limits.
    #[error("{what} of {length_bytes} bytes is over the limit of {limit_bytes}")]
    TooLarge {
        /// The kind of value.
        what: Oversized,
        /// Its length in bytes.
        length_bytes: usize,
        /// The limit in bytes, inclusive.
        limit_bytes: usize,
    },
    /// A content that the caller named by its hash is not held, or its file is missing.
    #[error("the content {hash} is not held")]
    ContentMissing {
        /// The content.
        hash: ContentHash,
    },
    /// The bytes of a content do not match its hash.
    #[error("the content {hash} is damaged")]
    ContentDamaged {
        /// The content.
        hash: ContentHash,
    },
    /// The database is damaged. It accepts no more writes, and the next opening quarantines it.
    #[error("the journal is damaged")]
    Damaged,
    /// A sync of the log failed and still fails. The write stays undecided until the log can be synced: a
    /// process that is killed before that may leave the write in force. The next write retries.
    #[error("the journal's log cannot be synced now; the next write retries")]
    NotSynced,
    /// The journal was closed in the meantime.
    #[error("the journal is closed")]
    Closed,
    /// The operating system failed otherwise.
    #[error("the journal's files cannot be used")]
    Io(#[source] io::Error),
    /// The database failed otherwise. Nothing of the write was kept.
    #[error("the journal's database cannot be used")]
    Database(#[source] DatabaseFailure),
}

impl JournalError {
    /// Returns the same failure of a commit, for another write that it blocks.
    pub(crate) fn repeated(&self) -> Self {
        match self {
            Self::NoSpace => Self::NoSpace,
            Self::ReadOnly => Self::ReadOnly,
            Self::Damaged => Self::Damaged,
            Self::Database(failure) => Self::Database(*failure),
            Self::Io(error) => Self::Io(error.kind().into()),
            // A commit fails with one of the above, or with a sync that still has to succeed.
            _ => Self::NotSynced,
        }
    }
}

/// The kinds of value with a size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Oversized {
    /// The content of one side of a change.
    Content,
    /// The outcome of a step or a run.
    Outcome,
    /// The value of a document.
    Document,
}

impl fmt::Display for Oversized {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Content => "a content",
            Self::Outcome => "an outcome",
            Self::Document => "a document",
        })
    }
}

/// A failure of SQLite without a separate kind, stripped of the paths that its text may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} (code {code})")]
pub struct DatabaseFailure {
    /// SQLite's extended result code; 0 for a failure in the binding to SQLite.
    pub code: i32,
    /// SQLite's fixed text for that code.
    pub text: &'static str,
}
