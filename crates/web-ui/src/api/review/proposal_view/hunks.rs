//! The hunks of a change with context lines.

use change_review::{FileStep, Hunk};
use serde::Serialize;

use crate::bounded_text::{BoundedText, TextBounds, bounded};

/// The number of context lines before and after a hunk.
const CONTEXT: usize = 3;

/// The bounds of all texts of one answer together; a hunk beyond them has no lines.
pub(super) struct Budget {
    bytes: usize,
    lines: usize,
}

impl Budget {
    pub(super) fn of_a_proposal() -> Budget {
        Budget { bytes: 3 << 20, lines: 30_000 }
    }

    pub(super) fn of_a_step() -> Budget {
        Budget { bytes: 4 << 20, lines: 60_000 }
    }

    /// Returns a text within bounds and the remaining budget.
    fn take(&mut self, text: &str, bounds: TextBounds) -> BoundedText {
        let lines = bounds.lines.min(self.lines);
        let bounds = match self.bytes {
            0 => TextBounds { lines: 0, ..bounds },
            left => TextBounds { lines, bytes: bounds.bytes.min(left), ..bounds },
        };
        let taken = bounded(text, bounds);
        self.bytes = self.bytes.saturating_sub(taken.text.len());
        self.lines = self.lines.saturating_sub(taken.text.lines().count());
        taken
    }
}

/// A hunk, as shown by the page.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HunkView {
    /// Its name within the step; empty if it is the whole of a file.
    id: String,
    old_first: usize,
    old_count: usize,
    new_first: usize,
    new_count: usize,
    old: BoundedText,
    new: BoundedText,
    /// The unchanged context lines before and after it.
    ahead: Vec<String>,
    behind: Vec<String>,
}

/// Returns the hunks of a file; a created or deleted file is one hunk.
pub(super) fn of(file: &FileStep, bounds: TextBounds, budget: &mut Budget) -> Vec<HunkView> {
    match (&file.before, &file.after) {
        (Some(before), Some(_)) => {
            let lines: Vec<&str> = before.split_inclusive('\n').collect();
            let mut views = Vec::with_capacity(file.hunks.len());
            for (index, hunk) in file.hunks.iter().enumerate() {
                let previous = index.checked_sub(1).map(|index| &file.hunks[index]);
                views.push(view(hunk, (previous, file.hunks.get(index + 1)), &lines, bounds, budget));
            }
            views
        }
        (None, Some(text)) => vec![whole(text, false, bounds, budget)],
        (Some(text), None) => vec![whole(text, true, bounds, budget)],
        (None, None) => Vec::new(),
    }
}

fn whole(text: &str, is_removed: bool, bounds: TextBounds, budget: &mut Budget) -> HunkView {
    let (kept, count) = (budget.take(text, bounds), text.lines().count());
    let nothing = BoundedText::default();
    let (old, new) = if is_removed { (kept, nothing) } else { (nothing, kept) };
    let (old_count, new_count) = if is_removed { (count, 0) } else { (0, count) };
    HunkView {
        id: String::new(),
        old_first: 1,
        old_count,
        new_first: 1,
        new_count,
        old,
        new,
        ahead: Vec::new(),
        behind: Vec::new(),
    }
}

fn view(
    hunk: &Hunk,
    (previous, next): (Option<&Hunk>, Option<&Hunk>),
    lines: &[&str],
    bounds: TextBounds,
    budget: &mut Budget,
) -> HunkView {
    let start = hunk.old_first - 1;
    let end = start + hunk.old_count;
    // Lines between two hunks are shown once: first after the earlier hunk.
    let end_of_previous = previous.map_or(0, |one| one.old_first - 1 + one.old_count);
    let free = if previous.is_some() { end_of_previous + CONTEXT } else { 0 };
    let from = start.saturating_sub(CONTEXT).max(free.min(start));
    let limit = next.map_or(lines.len(), |next| next.old_first - 1);
    let to = (end + CONTEXT).min(limit);
    let context = |lines: &[&str], budget: &mut Budget| -> Vec<String> {
        let texts = lines.iter().map(|line| budget.take(line.trim_end_matches('\n'), bounds).text);
        texts.collect()
    };
    HunkView {
        id: super::id_of(&hunk.id),
        old_first: hunk.old_first,
        old_count: hunk.old_count,
        new_first: hunk.new_first,
        new_count: hunk.new_count,
        ahead: context(&lines[from..start], budget),
        old: budget.take(&hunk.old_text, bounds),
        new: budget.take(&hunk.new_text, bounds),
        behind: context(&lines[end..to], budget),
    }
}
