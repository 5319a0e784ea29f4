//! Showing what a batch of changes would do.

use rel_path::RelPath;
use sandbox_fs::FileRoot;
use similar::TextDiff;
use wap_core::{FileChange, WapError};

use crate::held_versions::HeldVersions;
use crate::hidden::Hidden;
use crate::plan::{Plan, PlannedStep, Present};

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

pub(crate) fn plan(
    root: &FileRoot,
    hidden: &Hidden,
    held: &HeldVersions,
    changes: &[FileChange],
) -> Vec<Result<PlannedChange, WapError>> {
    let mut plan = Plan::new(root, hidden, held);
    changes.iter().map(|change| plan.change(change).map(|step| show(&step))).collect()
}

fn show(step: &PlannedStep) -> PlannedChange {
    let (before, after) = (text(step.before.as_ref()), text(step.after.as_ref()));
    let (Some(before), Some(after)) = (before, after) else {
        let diff = format!("{} is not a text\n", step.path);
        return PlannedChange { path: step.path.to_string(), diff, lines_added: 0, lines_removed: 0 };
    };
    let diff = TextDiff::from_lines(before, after);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    PlannedChange {
        path: step.path.to_string(),
        lines_added: count(similar::ChangeTag::Insert),
        lines_removed: count(similar::ChangeTag::Delete),
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

fn name(side: &str, path: &RelPath, exists: bool) -> String {
    if exists { format!("{side}/{path}") } else { "/dev/null".to_owned() }
}

fn text(present: Option<&Present>) -> Option<&str> {
    present.map_or(Some(""), |present| std::str::from_utf8(&present.bytes).ok())
}
