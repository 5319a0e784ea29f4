//! The parts of a parsed outbox.

use crate::{CommandResult, ListedEntry, ListedFolder, ReplyTo};

/// The parts of an outbox, as [`read_outbox`](crate::read_outbox) returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxParts {
    /// Session and sequence, from three consistent lines of the header.
    pub reply_to: ReplyTo,
    /// The task on one line.
    pub task: String,
    /// The report of the confinement of commands; empty if there is none.
    pub sandbox: String,
    /// The section PROTOCOL, without the sentences about the surroundings.
    pub protocol: String,
    /// The sentences about the surroundings of commands.
    pub surroundings: Vec<String>,
    /// The listed files of the workspace.
    pub listing: Vec<ListedEntry>,
    /// The folders that are shown with a count instead of their entries.
    pub folders: Vec<ListedFolder>,
    /// True if `listing` only has the entries that changed since an earlier message.
    pub is_of_changes: bool,
    /// The paths of entries of an earlier message that are gone.
    pub gone: Vec<String>,
    /// The listing's note about files that it leaves out, without its parentheses.
    pub listing_note: Option<String>,
    /// The files that are shown because they matter for the task.
    pub suggested: Vec<ShownFile>,
    /// The notes among the results.
    pub notes: Vec<String>,
    /// The results. Summaries and outputs have their lines joined by LF, without empty lines at the ends.
    pub results: Vec<CommandResult>,
    /// The requested files.
    pub files: Vec<ShownFile>,
    /// The work that the session continues; empty without any.
    pub work: String,
    /// The user's review of the last reply; empty without one.
    pub review: String,
    /// The answer of the user, with its lines joined by LF; empty if there is none.
    pub answer: String,
    /// The section PROMPT, without the last line's LF.
    pub prompt: String,
}

/// A shown file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFile {
    /// The path, on one line.
    pub path: String,
    /// The shown lines without their numbers, each with its line end unless the file lacks the last one; `None` if the file could
    /// not be read. In the dialect of the first implementation, every CRLF is shown as LF.
    pub text: Option<String>,
    /// The shown lines, if lines were requested; `None` if the whole file was.
    pub lines: Option<ShownLines>,
    /// The numbers of the shown lines, if they are not one range.
    pub parts: Option<Vec<u64>>,
    /// The note of the closing fence, without its parentheses.
    pub note: Option<String>,
}

/// The lines of a file that were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownLines {
    /// The first line, 1-based.
    pub first: u64,
    /// The last line, inclusive.
    pub last: u64,
    /// Lines in the whole file.
    pub total: u64,
}
