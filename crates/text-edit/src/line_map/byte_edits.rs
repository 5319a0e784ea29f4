//! Edits of bytes, and the lines that they touch.

use std::ops::Range;

use crate::{Hunk, LineMap, Source};

/// A range of the base's bytes and the range of the new bytes that replaced it.
pub(crate) struct ByteEdit {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Returns the map from the lines of `old` to those of `new`, the result of the edits.
pub(crate) fn line_map(old: &Source<'_>, new: &Source<'_>, edits: &[ByteEdit]) -> LineMap {
    let hunks = line_hunks(old, new, edits);
    LineMap::from_hunks(old.total_lines(), new.total_lines(), hunks).trimmed(old, new)
}

/// Returns the lines that byte edits touch, from the first to the last line of each.
fn line_hunks(old: &Source<'_>, new: &Source<'_>, edits: &[ByteEdit]) -> Vec<Hunk> {
    let touched = |source: &Source<'_>, range: &Range<usize>| {
        let end = (source.line_index_at(range.end) + 1).min(source.total_lines());
        source.line_index_at(range.start).min(end)..end
    };
    let mut hunks: Vec<Hunk> = Vec::new();
    for edit in edits {
        let hunk = Hunk { old: touched(old, &edit.old), new: touched(new, &edit.new) };
        match hunks.last_mut() {
            Some(last) if hunk.old.start < last.old.end || hunk.new.start < last.new.end => {
                last.old.end = hunk.old.end;
                last.new.end = hunk.new.end;
            }
            _ => hunks.push(hunk),
        }
    }
    hunks
}
