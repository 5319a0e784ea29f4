//! Results that are a text.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// A piece of a file with lines around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnippetResult {
    /// The piece.
    pub doc_id: String,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// First line of the content, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    /// Last line of the content, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    /// Lines in the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The lines.
    pub content: String,
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenResult {
    /// The file as it was asked for, or the file of the piece.
    pub path: String,
    /// The piece, if the file was asked for by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// First line of the content, 1-based; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    /// Last line of the content, inclusive; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    /// Lines in the whole file, if not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The lines.
    pub content: String,
}

/// Folders and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeResult {
    /// The folder that the listing begins with; absent for the whole workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many entries there are, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_entries: Option<u64>,
    /// One entry a line, indented by two blanks a level, folders with a slash.
    pub tree: String,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileReadResult {
    /// The file, as it was asked for.
    pub path: String,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// Lines in the whole file, if not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Its text.
    pub content: String,
}

/// What has changed, as a unified diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDiffResult {
    /// Files and folders that were asked for; none for everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// Lines of the whole diff, if not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// The diff; empty if nothing has changed.
    pub diff: String,
}
