//! Owns the errors of opening and of using a journal. None of their texts names a path of the host.

use std::fmt;
use std::io;

use crate::hash::ContentHash;
use crate::run::RunNumber;

/// Why a journal cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process, or another place in this one, has it open.
    #[error("the journal is in use{}", process_id.map(|id| format!(" by process {id}")).unwrap_or_default())]
    Held {
        /// The holder, if it could be told.
        process_id: Option<u32>,
    },
    /// It was written by a newer version of this program.
    #[error("the journal has schema {found}, this program knows schemas up to {supported}")]
    Newer {
        /// The schema that was found.
        found: u32,
        /// The newest schema that is understood.
        supported: u32,
    },
    /// It, or its folder, cannot be written.
    #[error("the journal's folder is read-only")]
    ReadOnly,
    /// The operating system refuses access to it or its folder.
    #[error("access to the journal's folder is denied")]
    Denied,
    /// Its folder, or for a reader the journal itself, does not exist.
    #[error("there is no journal")]
    Missing,
    /// The disk is full.
    #[error("no space is left for the journal")]
    NoSpace,
    /// A reader found it damaged. Opening it to write sets it aside.
    #[error("the journal is damaged")]
    Damaged,
    /// The operating system failed otherwise.
    #[error("the journal's files cannot be used")]
    Io(#[source] io::Error),
    /// The database failed otherwise.
    #[error("the journal's database cannot be used")]
    Database(#[source] DatabaseFailure),
}

/// Why a journal cannot take or give something.
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
    /// The step is already there. Nothing of the write was kept.
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
    /// A run cannot be finished while a step of it waits for its outcome. Nothing of the write was kept.
    #[error("step {index} of run {run} still waits for its outcome")]
    StepUnfinished {
        /// The run.
        run: RunNumber,
        /// The first such step, 0-based.
        index: u32,
    },
    /// Both sides of a change are `None`.
    #[error("a change needs something before it or after it")]
    EmptyChange,
    /// The change that is to be undone is not there.
    #[error("there is no such change to undo")]
    UnknownUndo,
    /// Something is larger than the journal's limits allow.
    #[error("{what} of {length_bytes} bytes is over the limit of {limit_bytes}")]
    TooLarge {
        /// What is too large.
        what: Oversized,
        /// Its length in bytes.
        length_bytes: usize,
        /// The limit in bytes, inclusive.
        limit_bytes: usize,
    },
    /// A content that was said to be held is not, or its file is gone.
    #[error("the content {hash} is not held")]
    ContentMissing {
        /// The content.
        hash: ContentHash,
    },
    /// A content is not what its name says.
    #[error("the content {hash} is damaged")]
    ContentDamaged {
        /// The content.
        hash: ContentHash,
    },
    /// The database is damaged. It takes no more writes, and the next opening will set it aside.
    #[error("the journal is damaged")]
    Damaged,
    /// The disk did not take the log, and still does not. Whether the write is kept is only decided when it does: a
    /// process that is killed before that may leave it. The next write tries again.
    #[error("the disk does not take the journal's log now; the next write tries again")]
    NotSynced,
    /// The journal was closed meanwhile.
    #[error("the journal is closed")]
    Closed,
    /// The operating system failed otherwise.
    #[error("the journal's files cannot be used")]
    Io(#[source] io::Error),
    /// The database failed otherwise. Nothing of the write was kept.
    #[error("the journal's database cannot be used")]
    Database(#[source] DatabaseFailure),
}

/// What can be larger than the limits.
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

/// A failure of SQLite that has no kind of its own here, without the paths that its own text may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} (code {code})")]
pub struct DatabaseFailure {
    /// SQLite's extended result code; 0 where the failure arose in the binding to it.
    pub code: i32,
    /// The fixed text that SQLite has for that code.
    pub text: &'static str,
}
