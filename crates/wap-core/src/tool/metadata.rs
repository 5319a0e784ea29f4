//! The metadata of a file in answers of `exploreFiles` and `readFile`.

use serde::{Deserialize, Serialize};

/// Metadata of a file or folder.
///
/// Source: WAP 1.0, `exploreFiles` and `readFile`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileMetadata {
    /// Canonical path relative to the root; absolute once a transport has applied the native dialect.
    pub path: String,
    /// Size in bytes; 0 for a folder.
    pub size: u64,
    /// True for a folder.
    pub is_directory: bool,
    /// Last modification, ISO 8601 in UTC.
    pub last_modified: String,
}
