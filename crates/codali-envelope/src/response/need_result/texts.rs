//! Results that consist of a text.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// A document with lines around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnippetResult {
    /// The document id.
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
    /// True if lines were left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The lines.
    pub content: String,
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenResult {
    /// The file as requested, or the file of the document.
    pub path: String,
    /// The document id, if the need had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// First line of the content, 1-based; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    /// Last line of the content, inclusive; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    /// The total number of lines of the file, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// True if lines were left out.
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
    /// True if lines were left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The total number of entries, if some were left out; absent if not all folders could be listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_entries: Option<u64>,
    /// One entry per line, indented by two spaces per level, folders with a slash.
    pub tree: String,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileReadResult {
    /// The file, as requested.
    pub path: String,
    /// True if lines were left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The total number of lines of the file, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Its text.
    pub content: String,
}

/// Changes, as a unified diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDiffResult {
    /// The requested files and folders; empty for everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// True if lines were left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The total number of lines of the diff, if some were left out; absent if lines in the middle are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// The diff; empty if nothing has changed.
    pub diff: String,
}

/// The output of a command of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandOutputResult {
    /// The command.
    pub command: String,
    /// True if it ended with exit code 0.
    pub succeeded: bool,
    /// The outcome in one line, with the exit code.
    pub outcome: String,
    /// True if lines were left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The total number of lines of the output, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Its output.
    pub content: String,
}
