//! Line maps found by comparing two texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::line_map::Kept;
use crate::{Hunk, LineMap, Source};

/// The most lines of two texts that are compared one by one. Each takes about a hundred bytes during the comparison.
const COMPARED_LINES: usize = 1 << 19;

impl LineMap {
    /// Compares two texts and keeps the lines whose text is the same.
    ///
    /// A line is the same if only its ending or its encoding (UTF-8, UTF-16) differs. If all lines between two differences occur
    /// several times, they count as changed: which of the equal lines corresponds to which is unknown.
    ///
    /// Texts that have more than half a million lines together are not compared line by line: only their common beginning and end
    /// are kept.
    pub fn between(old: &Source<'_>, new: &Source<'_>) -> LineMap {
        if old.total_lines() + new.total_lines() > COMPARED_LINES {
            let apart = LineMap::from_kept(old.total_lines(), new.total_lines(), &[]);
            return apart.trimmed(old, new);
        }
        let mut numbers = HashMap::new();
        let old_keys = numbered(old, &mut numbers);
        let new_keys = numbered(new, &mut numbers);
        let (old_counts, new_counts) =
            (occurrences(&old_keys, numbers.len()), occurrences(&new_keys, numbers.len()));
        let is_sure = |kept: &Kept| {
            let at_start = kept.old_start == 0 && kept.new_start == 0;
            let at_end =
                kept.old_start + kept.len == old_keys.len() && kept.new_start + kept.len == new_keys.len();
            let keys = &old_keys[kept.old_start..kept.old_start + kept.len];
            at_start || at_end || keys.iter().any(|key| old_counts[*key] == 1 && new_counts[*key] == 1)
        };
        let kept: Vec<Kept> = capture_diff_slices(Algorithm::Myers, &old_keys, &new_keys)
            .into_iter()
            .filter_map(|op| match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    Some(Kept { old_start: old_index, new_start: new_index, len })
                }
                _ => None,
            })
            .filter(is_sure)
            .collect();
        LineMap::from_kept(old.total_lines(), new.total_lines(), &kept)
    }

    /// Compares two versions of a file as [`between`](Self::between) does, and keeps only lines that every comparison with
    /// as few differences keeps.
    ///
    /// Added, removed or changed lines may begin or end with the adjacent lines (`end`, a blank line), or contain them. Then
    /// it is unknown which are the old ones, so both count as changed.
    pub fn between_versions(old: &Source<'_>, new: &Source<'_>) -> LineMap {
        LineMap::between(old, new).without_doubt(old, new)
    }

    fn without_doubt(&self, old: &Source<'_>, new: &Source<'_>) -> LineMap {
        let mut hunks: Vec<Hunk> = Vec::new();
        for (index, hunk) in self.hunks().iter().enumerate() {
            let above = index.checked_sub(1).map_or(0, |index| self.hunks()[index].old.end);
            let below = self.hunks().get(index + 1).map_or(self.old_lines(), |next| next.old.start);
            let (most_up, most_down) = (hunk.old.start - above, below - hunk.old.end);
            let in_old = Adjacent { source: old, differs: &hunk.old };
            let in_new = Adjacent { source: new, differs: &hunk.new };
            let up = in_old.above(most_up).max(in_new.above(most_up));
            let down = in_old.below(most_down).max(in_new.below(most_down));
            let widened = Hunk {
                old: hunk.old.start - up..hunk.old.end + down,
                new: hunk.new.start - up..hunk.new.end + down,
            };
            match hunks.last_mut() {
                Some(last) if last.old.end >= widened.old.start => {
                    last.old.end = widened.old.end;
                    last.new.end = widened.new.end;
                }
                _ => hunks.push(widened),
            }
        }
        LineMap::from_hunks(self.old_lines(), self.new_lines(), hunks)
    }

    /// Returns this map with its hunks trimmed at their edges where both texts have the same line.
    ///
    /// An edit replaces whole ranges; a line that it replaced with itself has not changed.
    pub(crate) fn trimmed(&self, old: &Source<'_>, new: &Source<'_>) -> LineMap {
        let same = |old_index: usize, new_index: usize| key(old, old_index) == key(new, new_index);
        let hunks = self.hunks().iter().map(|hunk| {
            let Hunk { old: mut from, new: mut to } = hunk.clone();
            while !from.is_empty() && !to.is_empty() && same(from.start, to.start) {
                from.start += 1;
                to.start += 1;
            }
            while !from.is_empty() && !to.is_empty() && same(from.end - 1, to.end - 1) {
                from.end -= 1;
                to.end -= 1;
            }
            Hunk { old: from, new: to }
        });
        LineMap::from_hunks(self.old_lines(), self.new_lines(), hunks.collect())
    }
}

/// Lines of one version that differ; the adjacent lines are the same in the other version.
struct Adjacent<'a> {
    source: &'a Source<'a>,
    differs: &'a Range<usize>,
}

impl Adjacent<'_> {
    /// Counts the lines above the difference, up to `most`, that also occur further down in the same order: matching those
    /// instead keeps as many lines.
    fn above(&self, most: usize) -> usize {
        let Range { start, end } = *self.differs;
        let mut below = end;
        let again = |by: usize| {
            let line = start - by;
            let position = (line + 1..below).rev().find(|other| self.is_same(line, *other));
            below = position?;
            Some(())
        };
        (1..=most).map_while(again).count()
    }

    /// Counts the lines below the difference, up to `most`, that also occur further up in the same order.
    fn below(&self, most: usize) -> usize {
        let Range { start, end } = *self.differs;
        let mut above = start;
        let again = |by: usize| {
            let line = end + by;
            let position = (above..line).find(|other| self.is_same(line, *other));
            above = position? + 1;
            Some(())
        };
        (0..most).map_while(again).count()
    }

    fn is_same(&self, one: usize, other: usize) -> bool {
        key(self.source, one) == key(self.source, other)
    }
}

/// Replaces lines by small numbers, equal for equal lines.
fn numbered<'a>(source: &Source<'a>, numbers: &mut HashMap<Cow<'a, [u8]>, usize>) -> Vec<usize> {
    (0..source.total_lines())
        .map(|index| {
            let next = numbers.len();
            *numbers.entry(key(source, index)).or_insert(next)
        })
        .collect()
}

/// Counts how often each of `count` numbers occurs.
fn occurrences(keys: &[usize], count: usize) -> Vec<usize> {
    let mut occurrences = vec![0; count];
    for key in keys {
        occurrences[*key] += 1;
    }
    occurrences
}

/// Returns the bytes by which two lines are compared.
fn key<'a>(source: &Source<'a>, line_index: usize) -> Cow<'a, [u8]> {
    let bytes = source.line_bytes(line_index + 1).expect("hunks are within their texts");
    if source.format().encoding.unit_bytes() == 1 {
        return Cow::Borrowed(bytes);
    }
    match source.line_text(line_index + 1) {
        Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        Some(Cow::Borrowed(text)) => Cow::Borrowed(text.as_bytes()),
        None => Cow::Borrowed(bytes),
    }
}
