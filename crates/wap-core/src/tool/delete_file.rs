//! `deleteFile`: an eighth tool in addition to the document's seven.

use serde::{Deserialize, Serialize};

/// Deletes a file, or a symbolic link itself. Folders are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeleteFile {
    /// Path of the file.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub path: String,
    /// Extension for adapters: the lines of the file. If it has others, it stays. Not in the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub expected_lines: Option<Vec<String>>,
}

/// The result of `deleteFile`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeleteFileResponse {
    /// Always true: a failure is an error.
    pub success: bool,
    /// Canonical path of the file that is gone.
    pub path: String,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
