//! Lines that a rewrite of a whole file adds, removes and changes.

use text_edit::{LineMap, Source};
use wap_core::ChangedLines;

use crate::edit_report::passages;
use crate::response::bounded;

/// The effect of a rewrite on the lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// Lines that are new or different.
    pub lines_added: u32,
    /// Lines that are gone or different.
    pub lines_removed: u32,
    /// The changed lines as they are now; `None` for a new file, whose lines the client has just sent, and if none changed.
    pub changed: Option<ChangedLines>,
}

impl Rewrite {
    /// Compares a content with the one before it; `old` is `None` for a new file. Where the new content is not text, there
    /// is nothing to count; where the old content is not, all new lines are added.
    #[must_use]
    pub fn between(old: Option<&[u8]>, new: &[u8]) -> Rewrite {
        // The counts are for the user's summary: bytes that are not text have no lines to count.
        let Ok(new) = Source::parse(new) else { return Rewrite::default() };
        let Some(Ok(old)) = old.map(Source::parse) else {
            return Rewrite { lines_added: bounded(new.total_lines()), ..Rewrite::default() };
        };
        let map = LineMap::between(&old, &new);
        let added = map.hunks().iter().map(|hunk| hunk.new.len()).sum();
        let removed = map.hunks().iter().map(|hunk| hunk.old.len()).sum();
        let changed = passages(&new, &map);
        Rewrite { lines_added: bounded(added), lines_removed: bounded(removed), changed }
    }
}
