//! What an outbox says, read back.

use crate::{CommandResult, ListedEntry, ReplyTo};

/// The parts of an outbox as [`read_outbox`](crate::read_outbox) finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxParts {
    /// Session and sequence, which stand in three lines of the header that agree.
    pub reply_to: ReplyTo,
    /// The task on one line.
    pub task: String,
    /// The report of what confines commands; empty if there is none.
    pub sandbox: String,
    /// The section PROTOCOL.
    pub protocol: String,
    /// The files of the workspace that are listed.
    pub listing: Vec<ListedEntry>,
    /// What the listing says about files that it leaves out, without its parentheses.
    pub listing_note: Option<String>,
    /// What the lines among the results say that are none.
    pub notes: Vec<String>,
    /// The results. Summaries and outputs have their lines joined by LF, without empty lines at the ends.
    pub results: Vec<CommandResult>,
    /// The requested files.
    pub files: Vec<ShownFile>,
    /// The section PROMPT, without the last line's LF.
    pub prompt: String,
}

/// A requested file as it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    /// The path, on one line.
    pub path: String,
    /// The lines shown, each with its LF unless the file has none at its end; `None` if the file could not be read.
    pub text: Option<String>,
    /// Which of its lines were shown, where it says so: those that were asked for.
    pub lines: Option<ShownLines>,
    /// What the end fence says beside, without its parentheses.
    pub note: Option<String>,
}

/// Which lines of a file were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLines {
    /// The first line, 1-based.
    pub first: u64,
    /// The last line, inclusive.
    pub last: u64,
    /// Lines in the whole file.
    pub total: u64,
}
