//! The data of the workspace that an outbox shows.

use wap_core::{EntryKind, FileVersion, LineSpan};

use super::{Shape, SuggestedFile};

/// Everything from the workspace that an outbox shows; [`gather`](crate::gather) collects it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The files of the workspace, sorted by the bytes of the path.
    pub listing: Vec<ListedEntry>,
    /// The number of entries that `listing` leaves out, including folders.
    pub unlisted: u64,
    /// Lines about folders that could not be listed; empty if the listing is complete except for `unlisted`.
    pub listing_notes: Vec<String>,
    /// The requested files, in the order of the requests.
    pub files: Vec<RequestedFile>,
    /// The shape of the workspace, which replaces a list that is too long; first messages only.
    pub shape: Option<Shape>,
    /// The files that matter for the task, the most relevant first; first messages only.
    pub suggested: Vec<SuggestedFile>,
}

/// One line of the listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEntry {
    /// Canonical path.
    pub path: String,
    /// Size in bytes; meaningful for regular files only.
    pub size_bytes: u64,
    /// The kind of an entry that is not a regular file; `None` for a regular file.
    pub kind: Option<EntryKind>,
}

/// A file that the model requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedFile {
    /// Canonical path, or the path of the request if nothing could be read there.
    pub path: String,
    /// Its content; `None` if it is missing or refused.
    pub text: Option<RequestedText>,
}

/// The text of a requested file, or of some of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedText {
    /// The text, verbatim.
    pub text: String,
    /// The version of the whole file; `None` if the workspace has no versions.
    pub version: Option<FileVersion>,
    /// Lines in the whole file.
    pub total_lines: u64,
    /// The requested lines, if `text` only holds those; they may extend beyond the end of the file. `None` if the whole file was
    /// requested.
    pub lines: Option<LineSpan>,
    /// True if `text` ends before the file or the requested lines do.
    pub is_cut: bool,
    /// The workspace's warnings, for instance that the file is not UTF-8.
    pub warnings: Vec<String>,
}
