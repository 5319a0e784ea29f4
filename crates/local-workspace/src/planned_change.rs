//! Showing what a change would do.

use crate::plan::PlannedStep;
use crate::present::Present;
use crate::unified_diff::UnifiedDiff;

/// What one change would do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedChange {
    /// Canonical path of the file.
    pub path: String,
    /// A unified diff, empty if nothing would change; for contents that are no text a line that says so.
    pub diff: String,
    /// Lines that are new or different.
    pub lines_added: usize,
    /// Lines that are gone or different.
    pub lines_removed: usize,
}

impl PlannedChange {
    pub(crate) fn of(step: &PlannedStep) -> PlannedChange {
        let path = step.path.to_string();
        let [before, after] = [&step.before, &step.after].map(|side| side.as_ref().map(Present::content));
        let UnifiedDiff { text, lines_added, lines_removed } = UnifiedDiff::between(&path, before, after);
        PlannedChange { path, diff: text, lines_added, lines_removed }
    }
}
