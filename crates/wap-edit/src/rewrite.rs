//! Lines that a rewrite of a whole file adds and removes.

use text_edit::{LineMap, Source};

use crate::response::bounded;

/// Counts the lines that a rewrite adds and removes, by comparison; `old` is `None` for a new file. Where the new content
/// is not text, both are 0; where the old content is not, all new lines are added.
#[must_use]
pub fn changed_lines(old: Option<&[u8]>, new: &[u8]) -> (u32, u32) {
    // The counts are for the user's summary: bytes that are not text have no lines to count.
    let Ok(new) = Source::parse(new) else { return (0, 0) };
    let Some(Ok(old)) = old.map(Source::parse) else { return (bounded(new.total_lines()), 0) };
    let map = LineMap::between(&old, &new);
    let added = map.hunks().iter().map(|hunk| hunk.new.len()).sum();
    let removed = map.hunks().iter().map(|hunk| hunk.old.len()).sum();
    (bounded(added), bounded(removed))
}
