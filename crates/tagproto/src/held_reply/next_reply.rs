//! The reply after a held reply.

use std::ops::Range;

use super::greeting::is_greeting;
use super::relation::Relation;
use super::{HeldReply, OVERLAP_CHARACTERS, weight};
use crate::{
    BlockKind, Dialect, Item, ParseErrorKind, RepairKind,
    outbox::FIRST_LINES,
    parse::scan::after,
    repair::{Thinking, closing_kind, lines_from},
    reply::read_blocks,
};

/// The reply after a held reply.
pub(super) struct NextReply<'a> {
    pub(super) raw: Vec<&'a str>,
    /// The trimmed lines.
    pub(super) lines: Vec<&'a str>,
    pub(super) items: Vec<Range<usize>>,
    first_kind: Option<BlockKind>,
    /// True if it has blocks, none of them malformed.
    has_only_blocks: bool,
    /// True if its first block is a message, and only the last one is malformed.
    begins_with_message: bool,
    /// True if its blocks are edits in the format of another program.
    has_other_format: bool,
    /// True if a closing tag, decorated or not, closes no block.
    pub(super) has_stray_closer: bool,
    /// The part to hold if it is cut off, read alone.
    pub(super) cut_off: Option<HeldReply>,
    /// True for each line of a thinking block after its first line.
    pub(super) is_thought: Vec<bool>,
    /// The first line after the preface that chats and models put before a continuation.
    pub(super) begin: usize,
}

/// The part of a reply's first block that arrived.
pub(super) struct FirstBlock<'n> {
    pub(super) kind: BlockKind,
    /// Its first line in the reply.
    pub(super) at: usize,
    pub(super) lines: &'n [&'n str],
    /// The line in which it was cut off, if it was.
    pub(super) cut_line: Option<&'n str>,
}

impl<'a> NextReply<'a> {
    pub(super) fn read(text: &'a str) -> NextReply<'a> {
        let raw: Vec<&str> = text.lines().collect();
        let lines: Vec<&str> = raw.iter().map(|line| trimmed(line)).collect();
        let reply = read_blocks(text);
        let has_only_blocks = reply.items.iter().all(|item| matches!(item, Item::Block(_)));
        let is_message = |item: &Item<'_>| item.kind() == BlockKind::Message;
        let begins_with_message = reply.items.split_last().is_some_and(|(_, before)| {
            before.first().is_some_and(is_message) && before.iter().all(|item| matches!(item, Item::Block(_)))
        });
        let mut is_thought = vec![false; lines.len()];
        let mut begins_thinking = vec![false; lines.len()];
        for block in thinking(text) {
            begins_thinking[block.start] = true;
            is_thought[block.start + 1..block.end].fill(true);
        }
        let is_before = |at: &usize| is_thought[*at] || begins_thinking[*at] || is_preface(lines[*at]);
        let begin = (0..lines.len()).take_while(is_before).count();
        let mut next = NextReply {
            has_only_blocks: has_only_blocks && !reply.items.is_empty(),
            begins_with_message,
            has_other_format: reply.repairs.contains(RepairKind::OtherFormat),
            has_stray_closer: false,
            cut_off: HeldReply::of(text, &reply),
            items: reply.items.iter().map(lines_of).collect(),
            first_kind: reply.items.first().map(Item::kind),
            begin,
            raw,
            lines,
            is_thought,
        };
        let closes = |at: usize| closing_kind(next.lines[at]).is_some_and(BlockKind::has_body);
        next.has_stray_closer = reply.items.iter().any(has_unclear_end)
            || (0..next.lines.len()).any(|at| closes(at) && next.is_outside(at));
        next
    }

    /// Returns the relation of a reply about something else. A reply that begins with a message, as requested, may be cut off as
    /// well.
    pub(super) fn other(&self) -> Relation<'a> {
        let is_other = self.has_only_blocks && self.has_only_a_greeting_around()
            || self.cut_off.as_ref().is_some_and(|cut| self.begins_with_message && cut.open_line > 0);
        if is_other { Relation::Other } else { Relation::Unclear }
    }

    /// Checks whether a reply can be whole: otherwise the text around its blocks may belong to the file in which the held reply
    /// was cut off, with the blocks as examples.
    fn has_only_a_greeting_around(&self) -> bool {
        let [first, ..] = self.items.as_slice() else { return false };
        let before = &self.raw[self.begin.min(first.start)..first.start];
        let is_mark = |line: &str| self.has_other_format && PATCH_MARKS.contains(&line);
        let is_bare = |lines: &[&str]| {
            lines.iter().map(|line| line.trim()).all(|line| is_preface(line) || is_mark(line))
        };
        if self.first_kind == Some(BlockKind::Message) && is_bare(before) {
            return true;
        }
        let last = self.items.last().map_or(0, |last| last.end);
        let begins_well = match self.has_other_format {
            false => is_greeting(before),
            // The name of the file before such an edit.
            true => {
                let mut texts = before.iter().filter(|line| !is_bare(&[**line]));
                texts.next().is_none_or(|name| is_name(name)) && texts.next().is_none()
            }
        };
        begins_well && is_bare(&self.raw[last..])
    }

    pub(super) fn first_block(&self) -> Option<FirstBlock<'_>> {
        let item = self.items.first()?;
        let lines = &self.lines[item.clone()];
        let (kind, at) = (self.first_kind?, item.start);
        let cut = self.cut_off.as_ref().filter(|cut| cut.open_line == item.start);
        Some(match cut {
            None => FirstBlock { kind, at, lines, cut_line: None },
            Some(cut) => {
                let complete = cut.text.lines().count() - cut.open_line;
                FirstBlock { kind, at, lines: &lines[..complete], cut_line: Some(cut.cut_line.trim()) }
            }
        })
    }

    /// Checks whether a line is outside of blocks and thinking.
    fn is_outside(&self, at: usize) -> bool {
        let before = self.items.partition_point(|item| item.start <= at);
        !self.is_thought[at] && self.items[..before].last().is_none_or(|item| item.end <= at)
    }

    /// Checks whether lines occur outside of all blocks, so that carrying out the blocks alone would lose them.
    pub(super) fn has_between_blocks(&self, wanted: &[&str]) -> bool {
        let mut starts = (0..self.lines.len()).filter(|at| self.lines[*at..].starts_with(wanted));
        weight(wanted) >= OVERLAP_CHARACTERS && starts.any(|at| self.is_outside(at))
    }
}

fn has_unclear_end(item: &Item<'_>) -> bool {
    match item {
        Item::Error(error) => {
            matches!(error.kind, ParseErrorKind::StrayClosing { .. } | ParseErrorKind::EndUnclear { .. })
        }
        Item::Block(_) => false,
    }
}

/// The marks around a patch.
const PATCH_MARKS: [&str; 2] = ["*** Begin Patch", "*** End Patch"];

/// Checks for a line of one word, such as the path of a file, with Markdown around it.
fn is_name(line: &str) -> bool {
    let name = line.trim().trim_matches(['*', '#', '`', ':', ' ']);
    !name.is_empty() && !name.contains(char::is_whitespace)
}

/// Trims a line and removes a byte-order mark.
pub(super) fn trimmed(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// Returns the lines of an item, 0-based.
pub(super) fn lines_of(item: &Item<'_>) -> Range<usize> {
    let lines = item.lines();
    lines.first as usize - 1..lines.last as usize
}

/// Returns the lines of the thinking blocks.
fn thinking(text: &str) -> Vec<Range<usize>> {
    let mut thinking = Thinking::of(Dialect::Agentd);
    let mut blocks: Vec<(Range<usize>, usize)> = Vec::new();
    for (index, line) in lines_from(text, 0).enumerate() {
        match blocks.last_mut() {
            Some((lines, end)) if line.start < *end => lines.end = index + 1,
            _ => {
                if let Some(end) = thinking.end_of_block(text, &line) {
                    blocks.push((index..index + 1, end.max(after(text, &line))));
                }
            }
        }
    }
    blocks.into_iter().map(|(lines, _)| lines).collect()
}

/// Checks for lines that chats and models put before a continuation: blank lines, fences, the token of the message, and the mark
/// before the requested lines.
fn is_preface(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with("~~~")
        || line == FIRST_LINES
        || crate::reply_to::is_token_line(line)
}
