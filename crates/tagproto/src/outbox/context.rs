//! What an outbox shows of the workspace, as values.

use wap_core::{EntryKind, FileVersion, LineSpan};

/// Everything that an outbox shows and that comes from the workspace; [`gather`](crate::gather) collects it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The files of the workspace, sorted by the bytes of the path.
    pub listing: Vec<ListedEntry>,
    /// How many further entries there are that `listing` leaves out, folders among them.
    pub unlisted: u64,
    /// What could not be looked at for the listing, one line each; empty if it is complete but for `unlisted`.
    pub listing_notes: Vec<String>,
    /// The requested files, in the order of asking.
    pub files: Vec<RequestedFile>,
}

/// One line of the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// Canonical path.
    pub path: String,
    /// Size in bytes; of interest for regular files only.
    pub size_bytes: u64,
    /// What it is if it is no regular file.
    pub kind: Option<EntryKind>,
}

/// A file that the model asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedFile {
    /// Canonical path, or the path as asked if nothing could be read there.
    pub path: String,
    /// What it holds; `None` if it is gone or refused.
    pub text: Option<RequestedText>,
}

/// The text of a requested file, or of some of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedText {
    /// The text, verbatim.
    pub text: String,
    /// The version of the whole file, if the workspace knows versions.
    pub version: Option<FileVersion>,
    /// Lines in the whole file.
    pub total_lines: u64,
    /// The lines that were asked for, where `text` holds those only; they may go beyond the end of the file. `None` if the
    /// whole file was asked for.
    pub lines: Option<LineSpan>,
    /// Whether `text` ends before the file does, or before the lines that were asked for do.
    pub is_cut: bool,
    /// What the workspace warns of, for instance that the file is not UTF-8.
    pub warnings: Vec<String>,
}
