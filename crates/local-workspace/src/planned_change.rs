//! Showing what a change would do.

use std::time::Duration;

use rel_path::RelPath;
use similar::{ChangeTag, TextDiff};

use crate::plan::PlannedStep;
use crate::present::Present;

/// How long the best diff is looked for; then a coarser one has to do.
const DIFF_TIME: Duration = Duration::from_secs(1);

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
        let (before, after) = (text(step.before.as_ref()), text(step.after.as_ref()));
        let (Some(before), Some(after)) = (before, after) else {
            let diff = format!("{} is not a text\n", step.path);
            return PlannedChange { path: step.path.to_string(), diff, lines_added: 0, lines_removed: 0 };
        };
        let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        PlannedChange {
            path: step.path.to_string(),
            lines_added: count(ChangeTag::Insert),
            lines_removed: count(ChangeTag::Delete),
            diff: diff
                .unified_diff()
                .context_radius(3)
                .header(
                    &name("a", &step.path, step.before.is_some()),
                    &name("b", &step.path, step.after.is_some()),
                )
                .to_string(),
        }
    }
}

fn name(side: &str, path: &RelPath, exists: bool) -> String {
    if exists { format!("{side}/{path}") } else { "/dev/null".to_owned() }
}

fn text(present: Option<&Present>) -> Option<&str> {
    present.map_or(Some(""), |present| std::str::from_utf8(&present.bytes).ok())
}
