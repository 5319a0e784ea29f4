//! The parts of a file's change that can be chosen individually.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use content_hash::ContentHash;
use serde::{Deserialize, Serialize};
use similar::{DiffOp, TextDiff};

/// The time spent on the best difference; after it, a coarser one is returned.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// Characters of an id.
const ID_LENGTH: usize = 32;

/// The number of lines on each side that distinguish hunks with the same texts.
const NEIGHBOURS: usize = 3;

/// The same of the old text and of the new one.
type OldAndNew<T> = (T, T);

/// The name of a hunk within its step, made from its two texts, and from the lines around it if others have the same texts: a
/// hunk that only moved keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HunkId(pub String);

impl fmt::Display for HunkId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Consecutive lines that are replaced, inserted or removed. Lines keep their line ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Its name within the step.
    pub id: HunkId,
    /// The first of the old lines, 1-based. With no old lines, the line before which the new ones are inserted.
    pub old_first: usize,
    /// The number of old lines.
    pub old_count: usize,
    /// The first of the new lines, 1-based. With no new lines, the line before which the old ones were.
    pub new_first: usize,
    /// The number of new lines.
    pub new_count: usize,
    /// The old lines.
    pub old_text: String,
    /// The new lines.
    pub new_text: String,
}

/// Returns the hunks that turn one text into another, in the order of their lines.
#[must_use]
pub fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (lines(before), lines(after));
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_slices(&old, &new);
    let ranges = changed_ranges(diff.ops());
    let texts: Vec<OldAndNew<String>> = ranges
        .iter()
        .map(|(old_range, new_range)| (old[old_range.clone()].concat(), new[new_range.clone()].concat()))
        .collect();
    let mut same: HashMap<&OldAndNew<String>, usize> = HashMap::new();
    for text in &texts {
        *same.entry(text).or_default() += 1;
    }
    // The numbers of those that are the same even with the lines around them.
    let mut names: HashMap<HunkId, usize> = HashMap::new();
    let hunk = |((old_range, new_range), text): (&OldAndNew<Range<usize>>, &OldAndNew<String>)| {
        let is_repeated = same[text] > 1;
        let around = if is_repeated { neighbours(&old, old_range) } else { String::new() };
        let mut named = id(text, &around, 0);
        let repeated = names.entry(named.clone()).or_default();
        if *repeated > 0 {
            named = id(text, &around, *repeated);
        }
        *repeated += 1;
        let (old_text, new_text) = text.clone();
        Hunk {
            id: named,
            old_first: old_range.start + 1,
            old_count: old_range.len(),
            new_first: new_range.start + 1,
            new_count: new_range.len(),
            old_text,
            new_text,
        }
    };
    ranges.iter().zip(&texts).map(hunk).collect()
}

/// Returns the old lines on both sides of a hunk.
fn neighbours(old: &[&str], hunk: &Range<usize>) -> String {
    let before = old[hunk.start.saturating_sub(NEIGHBOURS)..hunk.start].concat();
    let after = old[hunk.end..(hunk.end + NEIGHBOURS).min(old.len())].concat();
    format!("{}\0{before}\0{after}\0", before.len())
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

/// Returns the ranges of lines that differ, with adjacent ones merged.
fn changed_ranges(ops: &[DiffOp]) -> Vec<OldAndNew<Range<usize>>> {
    let mut ranges: Vec<OldAndNew<Range<usize>>> = Vec::new();
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

fn id((old_text, new_text): &OldAndNew<String>, around: &str, repeated: usize) -> HunkId {
    // The length comes first, so that different pairs of texts have different bytes.
    let named = format!("{}\0{old_text}\0{new_text}\0{around}{repeated}", old_text.len());
    let mut id = ContentHash::of(named.as_bytes()).to_string();
    id.truncate(ID_LENGTH);
    HunkId(id)
}
