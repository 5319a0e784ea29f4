//! `readFile`: the content of a file or of a range of its lines.

use serde::{Deserialize, Serialize};

use crate::{FileMetadata, FileVersion, numbered_view};

/// Reads a file or a range of its lines.
///
/// Source: WAP 1.0, `readFile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadFile {
    /// Path of the file.
    #[cfg_attr(feature = "schema", schemars(description = "", length(min = 1)))]
    pub path: String,
    /// First line, 1-based; absent means 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub start_line: Option<i64>,
    /// Last line, inclusive; absent means the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub end_line: Option<i64>,
    /// Extension: number and bar in front of each line, `12|`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_numbers: Option<bool>,
}

/// The text of a file, verbatim: line endings and a missing final newline are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReadFileResponse {
    /// The requested lines, with their endings; undecodable bytes are U+FFFD.
    pub content: String,
    /// Metadata of the whole file.
    pub metadata: FileMetadata,
    /// True if the content was cut at the size limit.
    pub is_truncated: bool,
    /// Lines in the whole file; 0 for an empty one.
    pub total_lines: u64,
    /// Lines returned.
    pub returned_lines: u64,
    /// Extension: the version of the whole file, for `expectedVersion` of `modifyFile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<FileVersion>,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl ReadFileResponse {
    /// Returns the response with its lines numbered, if the request wants that; absent means no.
    #[must_use]
    pub fn with_line_numbers(mut self, request: &ReadFile) -> ReadFileResponse {
        if request.line_numbers == Some(true) {
            let first = request.start_line.and_then(|line| u64::try_from(line).ok()).unwrap_or(1);
            self.content = numbered_view(&self.content, first);
        }
        self
    }

    /// Returns the warning that the text was truncated at the size limit, with the line at which it continues; `None` if it was
    /// not. `first_line` is the 1-based number of the first returned line.
    ///
    /// A caller that shows less of the text has its own warning instead.
    #[must_use]
    pub fn cut_warning(&self, first_line: u64) -> Option<String> {
        let next = first_line + self.returned_lines;
        let rest = match self.content.is_empty() || self.content.ends_with('\n') {
            true => "",
            false => "the rest of this line is too long to be shown; ",
        };
        self.is_truncated
            .then(|| format!("the text was cut at the size limit; {rest}it continues at line {next}"))
    }
}
