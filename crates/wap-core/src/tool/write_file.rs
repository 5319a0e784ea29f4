//! `writeFile`: a whole file at once.

use serde::{Deserialize, Serialize};

use crate::{ChangedLines, FileVersion, JudgedFile};

/// Writes a whole file, or appends to one.
///
/// Source: WAP 1.0, `writeFile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WriteFile {
    /// Path of the file.
    #[cfg_attr(feature = "schema", schemars(description = "", length(min = 1)))]
    pub path: String,
    /// Written as it is.
    pub content: String,
    /// Absent means overwrite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<WriteMode>,
    /// True makes missing parent folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_directories: Option<bool>,
    /// Extension for adapters: the file on which an append was judged. Not in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub judged: Option<JudgedFile>,
}

impl WriteFile {
    /// Returns the mode, `overwrite` if none was given.
    #[must_use]
    pub fn write_mode(&self) -> WriteMode {
        self.mode.unwrap_or_default()
    }
}

/// The treatment of a file that exists, in `writeFile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WriteMode {
    /// Fails if the file exists.
    Create,
    /// Replaces the content, or creates the file.
    #[default]
    Overwrite,
    /// Adds to the end, or creates the file.
    Append,
}

/// The result of `writeFile`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WriteFileResponse {
    /// Always true: a failure is an error.
    pub success: bool,
    /// Canonical path of the file.
    pub path: String,
    /// Bytes written by this call.
    pub bytes_written: u64,
    /// Extension: the version of the file after the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<FileVersion>,
    /// Extension: whether the file is new.
    #[serde(default)]
    pub created: bool,
    /// Extension: lines that are new or different.
    #[serde(default)]
    pub lines_added: u32,
    /// Extension: lines that are gone or different.
    #[serde(default)]
    pub lines_removed: u32,
    /// Extension: the changed lines as they are now, if the file is not new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<ChangedLines>,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
