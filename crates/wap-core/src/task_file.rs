//! A file that matters for a task, as an index ranks it.

use serde::{Deserialize, Serialize};

use crate::LineSpan;

/// A file that matters for a task, with the lines of it that do.
///
/// The lines are those of the file when it was indexed; a reader keeps to those that exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    /// Canonical path.
    pub path: String,
    /// Passages to show first, the most relevant one in front.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<LineSpan>,
    /// The first lines of the file's definitions, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outline: Vec<u64>,
}
