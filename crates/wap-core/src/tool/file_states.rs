//! Which versions files have at a moment, without their contents.

use serde::{Deserialize, Serialize};

use crate::FileVersion;

/// A point in an engine's history: its clock, and the last change that it has recorded.
///
/// Opaque to callers, who give it back to ask what has changed since. The default stands for an engine that knows none.
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
    /// One for each path that was asked for, in that order.
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
    /// Whether it has changed since the moment that was asked about, or may have. False if none was.
    pub has_changed: bool,
}
