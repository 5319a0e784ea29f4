//! The reply behind a held one.

use std::ops::Range;

use super::relation::Relation;
use super::{HeldReply, OVERLAP_CHARACTERS, weight};
use crate::{
    BlockKind, Dialect, Item, ParseErrorKind,
    outbox::FIRST_LINES,
    parse::scan::after,
    repair::{Thinking, closing_kind, lines_from},
    reply::read_blocks,
};

/// The reply behind a held one.
pub(super) struct NextReply<'a> {
    pub(super) raw: Vec<&'a str>,
    /// The same lines without blanks around them.
    pub(super) lines: Vec<&'a str>,
    pub(super) items: Vec<Range<usize>>,
    first_kind: Option<BlockKind>,
    /// True if it has blocks, and none is malformed.
    has_only_blocks: bool,
    /// True if its first block is a message, and only the last one is malformed.
    begins_with_message: bool,
    /// True if a closing tag, decorated or not, closes no block.
    pub(super) has_stray_closer: bool,
    /// The part to hold if it is cut off, read alone.
    pub(super) cut_off: Option<HeldReply>,
    /// True for each line inside of a thinking block, behind its first line.
    pub(super) is_thought: Vec<bool>,
    /// The first line behind what chats and models put before a continuation.
    pub(super) begin: usize,
}

/// The first block of a reply, as far as it arrived.
pub(super) struct FirstBlock<'n> {
    pub(super) kind: BlockKind,
    /// Its first line in the reply.
    pub(super) at: usize,
    pub(super) lines: &'n [&'n str],
    /// The line in which it was cut off; `None` if it was not.
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

    /// Returns the relation of a reply about something else. One that begins with a message, as the request says, may be cut off
    /// as well.
    pub(super) fn other(&self) -> Relation<'a> {
        let is_other = self.has_only_blocks
            || self.cut_off.as_ref().is_some_and(|cut| self.begins_with_message && cut.open_line > 0);
        if is_other { Relation::Other } else { Relation::Unclear }
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
                FirstBlock { kind, at, lines: &lines[..complete], cut_line: Some(&cut.cut_line) }
            }
        })
    }

    /// Checks whether a line stands outside of all blocks and of thinking.
    fn is_outside(&self, at: usize) -> bool {
        let before = self.items.partition_point(|item| item.start <= at);
        !self.is_thought[at] && self.items[..before].last().is_none_or(|item| item.end <= at)
    }

    /// Checks whether lines stand outside of all blocks, so that they would be left out with them.
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

/// Removes the blanks around a line, and a byte-order mark.
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

/// Checks for lines that chats and models put before a continuation: blank ones, fences, the token of the message, and the mark
/// before the requested lines.
fn is_preface(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with("~~~")
        || line == FIRST_LINES
        || crate::reply_to::is_token_line(line)
}
