//! The extents of the edits in a reply, found before its thinking and its blocks: a mark within an edit is text of that edit.

use std::borrow::Cow;
use std::ops::Range;

use super::{Ending, Items, ReplyLine, begin_patch, indented_fence, unified_diff, unnamed_diff};
use crate::BlockKind;
use crate::block::hunk;
use crate::repair::{Fence, closing_kind, lines_from, opening_kind};

/// Substrings, of which a text with an edit contains at least one.
const MARKERS: [&str; 4] = ["<<<<<", "@@", "***", "diff"];

/// Returns the extents of the edits in a text, in order. Includes edits that cannot be carried out, but not edits without an end
/// or inside a block's body. Takes time linear in the text.
pub(crate) fn extents(text: &str) -> Vec<Range<usize>> {
    if !MARKERS.iter().any(|marker| memchr::memmem::find(text.as_bytes(), marker.as_bytes()).is_some()) {
        return Vec::new();
    }
    let lines: Vec<ReplyLine<'_>> =
        lines_from(text, 0).enumerate().map(|(index, line)| ReplyLine::of(text, index, &line)).collect();
    let block_lengths = block_lengths(&lines);
    let mut items = Items::of_ending(Ending::of(text, &lines));
    let mut lines: Cow<'_, [ReplyLine<'_>]> = Cow::Owned(lines);
    let mut extents = Vec::new();
    let mut index = 0;
    while index < lines.len() {
        if items.fence.is_none() {
            indented_fence::remove_indentation(&mut lines, index);
        }
        let (line, rest) = (lines[index], &lines[index..]);
        let length = begin_patch::length(rest)
            .or_else(|| unified_diff::read(rest, &mut items))
            .or_else(|| unnamed_diff::read(rest, &mut items))
            .or_else(|| hunk_length(rest));
        items.items.clear();
        if let Some(length) = length.filter(|length| *length > 0) {
            extents.push(line.start..rest[length - 1].end);
            index += length;
        } else if block_lengths[index] > 0 {
            index += block_lengths[index];
        } else {
            items.fence = Fence::open_after(line.text, items.fence);
            index += 1;
        }
    }
    extents
}

fn hunk_length(lines: &[ReplyLine<'_>]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    let mark_length = hunk::opening(first.text)?;
    hunk::length(rest.iter().map(|line| line.text), mark_length).map(|length| length + 1)
}

/// Returns for each line the number of lines of the block that begins there: 0 if none does, or if another block of its kind
/// begins before its end. Reads each line once.
fn block_lengths(lines: &[ReplyLine<'_>]) -> Vec<usize> {
    let mut lengths = vec![0; lines.len()];
    // For each kind, the line that ends a block, unless another block begins before it.
    let mut ends: Vec<(BlockKind, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate().rev() {
        let opened = opening_kind(line.text);
        let end = ends.iter().find(|(kind, _)| kind.has_body() && Some(*kind) == opened);
        lengths[index] = end.map_or(0, |(_, end)| end + 1 - index);
        let closed = closing_kind(line.text);
        ends.retain(|(kind, _)| Some(*kind) != opened && Some(*kind) != closed);
        ends.extend(closed.map(|kind| (kind, index)));
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::{ReplyLine, block_lengths, lines_from};

    #[test]
    fn a_block_ends_before_another_one_of_its_kind() {
        let lengths = |text: &str| {
            let lines =
                lines_from(text, 0).enumerate().map(|(index, line)| ReplyLine::of(text, index, &line));
            block_lengths(&lines.collect::<Vec<_>>())
        };
        let (open, inner) = ("[CREATE_FILE path=\"a\"]\n", "[RUN_COMMAND]\nls\n[/RUN_COMMAND]\n");
        assert_eq!(lengths(&format!("{open}{inner}[/CREATE_FILE]\n")), [5, 3, 0, 0, 0]);
        assert_eq!(lengths(&format!("{open}{open}{inner}[/CREATE_FILE]")), [0, 5, 3, 0, 0, 0]);
        assert_eq!(lengths(&format!("{open}{inner}{inner}")), [0, 3, 0, 0, 3, 0, 0]);
        assert_eq!(lengths("[READ_FILE path=\"a\"]\nx\n[/READ_FILE]\n[MESSAGE]\n"), [0, 0, 0, 0]);
    }
}
