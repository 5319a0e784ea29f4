//! A file that an index ranks as relevant for a task.

use serde::{Deserialize, Serialize};

use crate::LineSpan;

/// A file that is relevant for a task, with its relevant lines.
///
/// The lines are those of the file when it was indexed; a reader skips those that no longer exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    /// Canonical path.
    pub path: String,
    /// Passages to show, most relevant first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<LineSpan>,
    /// The first lines of the file's definitions, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outline: Vec<u64>,
}
