//! `searchFiles`: text in files.

use serde::{Deserialize, Serialize};

use crate::WithheldFiles;

/// Searches files for a text or a regular expression.
///
/// Source: WAP 1.0, `searchFiles`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchFiles {
    /// Files and folders to search.
    pub paths: Vec<String>,
    /// The text or the expression.
    #[cfg_attr(feature = "schema", schemars(description = "", length(min = 1)))]
    pub query: String,
    /// The kind of query.
    #[cfg_attr(feature = "schema", schemars(description = ""))]
    #[serde(rename = "type")]
    pub query_type: QueryType,
    /// False searches only the folder itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// Globs that replace the default exclusions.
    #[cfg_attr(feature = "schema", schemars(description = ""))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_patterns: Option<Vec<String>>,
    /// Lines around each match; absent means 2, at most 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub context_lines: Option<i64>,
    /// Extension: true leaves out what git ignores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respect_gitignore: Option<bool>,
    /// Extension for adapters: files of credentials to skip; absent searches them like others. Not in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub withheld: Option<WithheldFiles>,
}

impl SearchFiles {
    /// Context lines when the request names none.
    pub const DEFAULT_CONTEXT_LINES: u32 = 2;
}

/// The kind of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum QueryType {
    /// A regular expression for a linear-time engine.
    Regex,
    /// The text itself, without special characters.
    Literal,
}

/// Matching lines, sorted by the bytes of the path, then by line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchFilesResponse {
    /// The matches, at most `maxSearchResults`.
    pub matches: Vec<SearchMatch>,
    /// True if matches were left out.
    pub is_truncated: bool,
    /// The number of matching lines, those left out included.
    pub total_matches: u64,
    /// Extension: files that could not be searched, by reason.
    #[serde(default, skip_serializing_if = "Skipped::is_empty")]
    pub skipped: Skipped,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Extension for adapters: true if a skipped file is withheld only if it holds a secret. Not in the schema.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub has_undecided: bool,
}

impl SearchFilesResponse {
    /// Returns the warning for an answer with `listed` matches of `total_matches`: how to see the others. `None` if there are none.
    #[must_use]
    pub fn cut_warning(listed: usize, total_matches: u64) -> Option<String> {
        (total_matches > listed as u64)
            .then(|| "matches are left out: search fewer 'paths', or for a longer text".to_owned())
    }
}

/// One matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchMatch {
    /// Canonical path of the file.
    pub path: String,
    /// Line of the match, 1-based.
    pub line: u64,
    /// The line, without its ending, cut at 1,000 characters.
    pub match_text: String,
    /// Lines before it, oldest first.
    pub context_before: Vec<String>,
    /// Lines after it.
    pub context_after: Vec<String>,
}

/// Files that a search skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Skipped {
    /// Binary files.
    pub binary: u64,
    /// Files that could not be opened or read.
    pub unreadable: u64,
    /// Files in an encoding that is not known.
    pub undecodable: u64,
}

impl Skipped {
    /// Checks whether no file was skipped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Skipped::default()
    }
}
