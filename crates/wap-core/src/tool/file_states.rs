//! The versions of files at a moment, without their contents.

use serde::{Deserialize, Serialize};

use crate::FileVersion;

/// A point in an engine's history: its clock, and the last recorded change.
///
/// Opaque to callers, which pass it back to ask for changes since. The default stands for an engine without a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Moment {
    /// Nanoseconds of the engine's clock.
    pub clock_nanoseconds: i64,
    /// The number of the last change.
    pub change: u64,
}

/// Files at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileStates {
    /// The moment.
    pub moment: Moment,
    /// One entry for each requested path, in that order; `None` if it is not a file that can be read.
    pub files: Vec<Option<FileState>>,
}

/// A file at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileState {
    /// Canonical path.
    pub path: String,
    /// The version; `None` if the file is too large to have one.
    pub version: Option<FileVersion>,
    /// True if the file has changed since the moment of the request, or may have. False if the request has no moment.
    pub has_changed: bool,
}
