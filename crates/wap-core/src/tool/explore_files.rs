//! `exploreFiles`: the entries of a folder.

use serde::{Deserialize, Serialize};

use crate::FileMetadata;

/// Lists a folder, optionally with what lies beneath.
///
/// Every optional field may be absent or `null`. Source: WAP 1.0, `exploreFiles`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploreFiles {
    /// Start folder; an empty text and `.` mean the root.
    pub path: String,
    /// Absent means flat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// Globs that replace the default exclusions; `[]` excludes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_patterns: Option<Vec<String>>,
    /// Absent means 3 levels when recursive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_depth: Option<i64>,
    /// True to return metadata.
    #[cfg_attr(feature = "schema", schemars(description = ""))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_metadata: Option<bool>,
    /// Extension: true leaves out what git ignores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respect_gitignore: Option<bool>,
}

impl ExploreFiles {
    /// The depth of a recursive listing that names none.
    pub const DEFAULT_DEPTH: u32 = 3;
}

/// The entries of a folder, sorted by the bytes of the path; the start folder itself is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploreFilesResponse {
    /// The entries, at most `maxDirectoryEntries`.
    pub files: Vec<ExploredFile>,
    /// True if entries were left out.
    pub is_truncated: bool,
    /// The number of entries, those left out included.
    pub total_found: u64,
    /// Extension: what the caller should know, a bound that was reached for instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExploredFile {
    /// Canonical path relative to the root.
    pub path: String,
    /// True for a folder.
    pub is_directory: bool,
    /// Metadata, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<FileMetadata>,
    /// Extension: present for what is neither a file nor a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EntryKind>,
}

/// The kind of an entry that is neither a regular file nor a folder. Such entries are listed and never entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
}
