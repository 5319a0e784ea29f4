//! The parts of a file's change that can be chosen one by one.

use std::fmt;
use std::time::Duration;

use content_hash::ContentHash;
use serde::{Deserialize, Serialize};
use similar::{DiffOp, TextDiff};

/// The time spent on the best difference; after it, a coarser one is returned.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// Characters of an id.
const ID_LENGTH: usize = 32;

/// The name of a hunk within its step, made from its two texts: a hunk that only moved keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HunkId(pub String);

impl fmt::Display for HunkId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Lines that follow each other and are replaced, inserted or removed. Lines keep their line ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Its name within the step.
    pub id: HunkId,
    /// The first of the old lines, 1-based. With no old lines, the line before which the new ones are inserted.
    pub old_first: usize,
    /// The number of old lines.
    pub old_count: usize,
    /// The first of the new lines, 1-based. With no new lines, the line before which the old ones stood.
    pub new_first: usize,
    /// The number of new lines.
    pub new_count: usize,
    /// The old lines.
    pub old_text: String,
    /// The new lines.
    pub new_text: String,
}

/// Returns the hunks by which one text becomes another, in the order of their lines.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (lines(before), lines(after));
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_slices(&old, &new);
    let mut hunks: Vec<Hunk> = Vec::new();
    for (old_range, new_range) in changed_ranges(diff.ops()) {
        let (old_text, new_text) = (old[old_range.clone()].concat(), new[new_range.clone()].concat());
        let repeated =
            hunks.iter().filter(|hunk| hunk.old_text == old_text && hunk.new_text == new_text).count();
        hunks.push(Hunk {
            id: id(&old_text, &new_text, repeated),
            old_first: old_range.start + 1,
            old_count: old_range.len(),
            new_first: new_range.start + 1,
            new_count: new_range.len(),
            old_text,
            new_text,
        });
    }
    hunks
}

/// Returns the text with only the chosen hunks in it. `hunks` are those of the text, in their order.
pub(crate) fn with_chosen(before: &str, hunks: &[Hunk], is_chosen: impl Fn(&Hunk) -> bool) -> String {
    let lines = lines(before);
    let mut result = String::with_capacity(before.len());
    let mut next = 0;
    for hunk in hunks {
        let start = hunk.old_first - 1;
        result.extend(lines[next..start].iter().copied());
        result.push_str(if is_chosen(hunk) { &hunk.new_text } else { &hunk.old_text });
        next = start + hunk.old_count;
    }
    result.extend(lines[next..].iter().copied());
    result
}

/// Returns the lines of a text, with their line ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the ranges of lines that differ, neighbours joined.
fn changed_ranges(ops: &[DiffOp]) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    let mut ranges: Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (old, new) = (op.old_range(), op.new_range());
        match ranges.last_mut() {
            Some((last_old, last_new)) if last_old.end == old.start && last_new.end == new.start => {
                (last_old.end, last_new.end) = (old.end, new.end);
            }
            _ => ranges.push((old, new)),
        }
    }
    ranges
}

fn id(old_text: &str, new_text: &str, repeated: usize) -> HunkId {
    // The length stands in front, so that no two pairs of texts are the same bytes.
    let named = format!("{}\0{old_text}\0{new_text}\0{repeated}", old_text.len());
    let mut id = ContentHash::of(named.as_bytes()).to_string();
    id.truncate(ID_LENGTH);
    HunkId(id)
}
