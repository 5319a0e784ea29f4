//! The lines of a reply that edits take up, found before its thinking and its blocks: a mark within an edit is text of that edit.

use std::ops::Range;

use super::{Ending, Items, ReplyLine, begin_patch, unified_diff, unnamed_diff};
use crate::block::hunk;
use crate::repair::{Fence, closing_kind, lines_from, opening_kind};

/// The signs without which a text has no edit.
const SIGNS: [&str; 4] = ["<<<<<", "@@", "***", "diff"];

/// Returns the parts of a text that edits take up, in order: those that have an end, whether they can be carried out or not, outside of
/// the bodies of blocks. Takes time linear in the text.
pub(crate) fn extents(text: &str) -> Vec<Range<usize>> {
    if !SIGNS.iter().any(|sign| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some()) {
        return Vec::new();
    }
    let lines: Vec<ReplyLine<'_>> =
        lines_from(text, 0).enumerate().map(|(index, line)| ReplyLine::of(text, index, &line)).collect();
    let mut items = Items::of_ending(Ending::of(text, &lines));
    let mut extents = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let rest = &lines[index..];
        let length = begin_patch::length(rest)
            .or_else(|| unified_diff::read(rest, &mut items))
            .or_else(|| unnamed_diff::read(rest, &mut items))
            .or_else(|| hunk_length(rest));
        items.items.clear();
        if let Some(length) = length.filter(|length| *length > 0) {
            extents.push(line.start..rest[length - 1].end);
            index += length;
        } else if let Some(length) = block_length(rest) {
            index += length;
        } else {
            items.fence = Fence::open_behind(line.text, items.fence);
            index += 1;
        }
    }
    extents
}

fn hunk_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let (first, behind) = lines.split_first()?;
    let signs = hunk::opening(first.text)?;
    hunk::length(behind.iter().map(|line| line.text), signs).map(|length| length + 1)
}

/// Returns the number of lines of the block that begins with the first of the lines; `None` if it has no end before another one.
fn block_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let (first, behind) = lines.split_first()?;
    let kind = opening_kind(first.text).filter(|kind| kind.has_body())?;
    let is_edge =
        |line: &ReplyLine<'_>| [closing_kind(line.text), opening_kind(line.text)].contains(&Some(kind));
    let edge = behind.iter().position(is_edge)?;
    (closing_kind(behind[edge].text) == Some(kind)).then_some(edge + 2)
}
