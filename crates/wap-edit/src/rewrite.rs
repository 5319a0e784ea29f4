//! Lines that a rewrite of a whole file adds, removes and changes.

use text_edit::{LineEnding, LineMap, Source};
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
    /// A note on changed line endings, byte-order mark or encoding. `None` if they are the same.
    pub format_note: Option<String>,
}

impl Rewrite {
    /// Compares a content with the previous one; `old` is `None` for a new file. If the new content is not text, there is nothing
    /// to count; if the old content is not, all new lines count as added.
    #[must_use]
    pub fn between(old: Option<&[u8]>, new: &[u8]) -> Rewrite {
        // The counts are for the user's summary; bytes that are not text have no lines.
        let Ok(new) = Source::parse(new) else { return Rewrite::default() };
        let Some(Ok(old)) = old.map(Source::parse) else {
            return Rewrite { lines_added: bounded(new.total_lines()), ..Rewrite::default() };
        };
        let map = LineMap::between(&old, &new);
        let added = map.hunks().iter().map(|hunk| hunk.new.len()).sum();
        let removed = map.hunks().iter().map(|hunk| hunk.old.len()).sum();
        let changed = passages(&new, &map);
        let format_note = format_note(&old, &new);
        Rewrite { lines_added: bounded(added), lines_removed: bounded(removed), changed, format_note }
    }
}

/// Describes the differences of two contents that their lines do not show.
fn format_note(old: &Source<'_>, new: &Source<'_>) -> Option<String> {
    let (was, is) = (old.format(), new.format());
    let has_endings = |source: &Source<'_>| {
        source.total_lines() > 1 || source.total_lines() == 1 && source.format().final_newline
    };
    let mut notes = Vec::new();
    if has_endings(old) && has_endings(new) {
        if is.mixed_line_endings && !was.mixed_line_endings {
            notes.push("the file has both CRLF and LF line endings now".to_owned());
        } else if was.line_ending != is.line_ending {
            let name = |ending: LineEnding| if ending == LineEnding::CrLf { "CRLF" } else { "LF" };
            notes.push(format!(
                "line endings changed from {} to {}",
                name(was.line_ending),
                name(is.line_ending)
            ));
        }
    }
    if was.encoding != is.encoding && old.total_lines() > 0 {
        notes.push(format!("encoding changed from {} to {}", was.encoding, is.encoding));
    }
    if was.byte_order_mark && !is.byte_order_mark {
        notes.push("byte-order mark removed".to_owned());
    }
    (!notes.is_empty()).then(|| notes.join(", "))
}
