//! The relation of a reply to the one that is held before it.

use std::borrow::Cow;
use std::ops::Range;

use super::{HeldReply, OVERLAP_CHARACTERS, weight};
use crate::{
    BlockKind, Dialect, Item, ParseErrorKind, Strictness,
    parse::scan::after,
    read_in,
    repair::{Thinking, closing_kind, lines_from},
};

/// The fewest non-blank characters of a shorter overlap, with which a continuation may begin.
const SHORT_OVERLAP_CHARACTERS: usize = 8;

/// The relation of a reply to the held one.
#[derive(Debug)]
pub(super) enum Relation<'a> {
    /// Its continuation, or its last block written anew: both as one text.
    Joined(Cow<'a, str>),
    /// A part of it, also cut off: nothing that is not held.
    Part,
    /// The held reply written anew, from its first block on.
    Anew,
    /// Another whole reply.
    Other,
    /// It is not clear which of these.
    Unclear,
}

impl HeldReply {
    /// Determines what a reply is to this one, by the rule in the documentation of the module.
    pub(super) fn relation<'a>(&self, text: &'a str) -> Relation<'a> {
        let (held, next) = (HeldLines::of(self), NextReply::read(text));
        let last_at = self.last_lines_at();
        if held.begins_with_all_of(&next) {
            return Relation::Part;
        }
        if let Some(end) = held.seam(last_at, &next) {
            return match held.is_opened_again(&next.lines[end..])
                || held.may_be_cut_tag(last_at, &next.lines[end..])
            {
                true => Relation::Unclear,
                false => Relation::Joined(Cow::Owned(join(self.text.lines(), &next.raw[end..]))),
            };
        }
        if held.ends_with_all_of(last_at, &next) {
            return Relation::Part;
        }
        let Some(first) = next.first_block() else { return Relation::Unclear };
        if next.has_between_blocks(&held.lines[last_at..]) && last_at > held.open_line {
            return Relation::Unclear;
        }
        let opens = held.is_open_tag(next.lines[first.at]);
        if held.blocks.is_empty() {
            return match opens {
                true => Relation::Joined(Cow::Borrowed(text)),
                false => next.other(),
            };
        }
        let is_block_anew = opens
            && match held.blocks.iter().any(|block| held.is_open_tag(held.lines[block.start])) {
                true => !held.repeats_any(&first) && held.may_be_open_block(&first),
                false => true,
            };
        if is_block_anew {
            let blocks = self.text.lines().take(self.open_line);
            return Relation::Joined(Cow::Owned(join(blocks, &next.raw[first.at..])));
        }
        if next.has_stray_closer {
            return Relation::Unclear;
        }
        if held.is_all_repeated_by(&next) {
            return Relation::Anew;
        }
        // The same text twice: the first block, or the last one?
        if opens && held.repeats_any(&first) && held.may_be_open_block(&first) {
            return Relation::Unclear;
        }
        if held.repeats(&first, &held.blocks[0]) { Relation::Anew } else { next.other() }
    }
}

/// The lines of a held reply, without blanks around them.
pub(super) struct HeldLines<'h> {
    pub(super) lines: Vec<&'h str>,
    pub(super) open_line: usize,
    cut_line: &'h str,
    /// The complete blocks, malformed ones included.
    blocks: Vec<Range<usize>>,
    /// The kind of the block that was open; `None` if the reply ended in its tag.
    open_kind: Option<BlockKind>,
}

impl<'h> HeldLines<'h> {
    pub(super) fn of(held: &'h HeldReply) -> HeldLines<'h> {
        // With the line that may be incomplete: what is before it may be the same text twice, which is not read.
        let text = held.whole_text();
        let items = read_in(&text, Strictness::Repair, Dialect::Agentd).items;
        let lines: Vec<&str> = held.text.lines().map(trimmed).collect();
        let is_open =
            |item: &&Item<'_>| lines_of(item).start == held.open_line && held.open_line < lines.len();
        HeldLines {
            open_kind: items.last().filter(is_open).map(Item::kind),
            blocks: items.iter().map(lines_of).filter(|lines| lines.start < held.open_line).collect(),
            lines,
            open_line: held.open_line,
            cut_line: &held.cut_line,
        }
    }

    /// Returns the fewest last lines that stand nowhere else in the reply, so that a reply that begins with them does not begin
    /// with an earlier block as well. Takes time linear in the text.
    pub(super) fn fewest_unmistakable(&self) -> usize {
        let backwards: Vec<&str> = self.lines.iter().rev().copied().collect();
        1 + repetitions(&backwards).into_iter().max().unwrap_or(0)
    }

    /// Checks whether it has complete blocks.
    pub(super) fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Returns the line of its first block.
    fn begin(&self) -> usize {
        self.blocks.first().map_or(self.open_line, |block| block.start)
    }

    /// Checks whether a line is the opening tag of the block in which the reply ended.
    fn is_open_tag(&self, line: &str) -> bool {
        match self.lines.get(self.open_line) {
            Some(tag) => line == *tag,
            None => line.starts_with(self.cut_line),
        }
    }

    /// Checks whether no block begins with the last lines: a reply that repeats the opening tag directly before them continues
    /// the block, and does not write it anew.
    fn stand_in_the_middle(&self, last_at: usize) -> bool {
        let last = &self.lines[last_at..];
        let mut starts = self.blocks.iter().map(|block| block.start).chain([self.open_line]);
        last_at > self.open_line && !starts.any(|start| self.lines[start + 1..].starts_with(last))
    }

    /// Finds the last lines in a reply with nothing before them that reads as a tag, or only the opening tag once more; returns
    /// the index behind them.
    ///
    /// All of them count wherever they stand, a part of them only at the start.
    fn seam(&self, last_at: usize, next: &NextReply<'_>) -> Option<usize> {
        let last = &self.lines[last_at..];
        let mut whole = (0..next.lines.len()).filter(|at| !next.is_thought[*at]);
        if let Some(at) = whole.find(|at| next.lines[*at..].starts_with(last)) {
            let repeats_tag =
                at > 0 && self.is_open_tag(next.lines[at - 1]) && self.stand_in_the_middle(last_at);
            return is_prose(&next.raw[..at - usize::from(repeats_tag)]).then_some(at + last.len());
        }
        let rest = &next.lines[next.begin..];
        let fewest = if self.has_blocks() { self.fewest_unmistakable() } else { 0 };
        let mut parts = (1..last.len()).map(|count| &last[count..]);
        let part = parts.find(|part| {
            let is_in_block = self.lines.len() - part.len() > self.open_line;
            weight(part) >= SHORT_OVERLAP_CHARACTERS
                && rest.starts_with(part)
                && (is_in_block || part.len() >= fewest)
        })?;
        Some(next.begin + part.len())
    }

    /// Checks whether the opening tag stands in the continuation before the closing one: the lines were only quoted, and the
    /// block follows as a whole.
    fn is_opened_again(&self, behind: &[&str]) -> bool {
        let Some(kind) = self.open_kind else { return false };
        let open_tag = self.lines[self.open_line];
        let closes = |line: &str| closing_kind(line) == Some(kind);
        behind.iter().find(|line| **line == open_tag || closes(line)).is_some_and(|line| *line == open_tag)
    }

    /// Checks whether the last lines may also be the block in whose tag the reply ended, by the lines behind them.
    fn may_be_cut_tag(&self, last_at: usize, behind: &[&str]) -> bool {
        let is_in_tag = self.open_line == self.lines.len();
        let next = behind.iter().find(|line| !line.is_empty());
        is_in_tag
            && self.is_open_tag(self.lines[last_at])
            && !next.is_some_and(|line| line.starts_with(self.cut_line))
    }

    /// Checks whether the held reply begins with a reply that was cut off as well.
    fn begins_with_all_of(&self, next: &NextReply<'_>) -> bool {
        let (Some(cut), Some(first)) = (&next.cut_off, next.items.first()) else { return false };
        let complete: Vec<&str> = cut.text.lines().map(trimmed).skip(first.start).collect();
        let held = &self.lines[self.begin()..];
        held.starts_with(&complete)
            && held.get(complete.len()).is_none_or(|line| line.starts_with(&cut.cut_line))
    }

    /// Checks whether the held reply ends with a reply, up to the very line in which both are cut off.
    fn ends_with_all_of(&self, last_at: usize, next: &NextReply<'_>) -> bool {
        let count = next.lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let lines = next.lines.get(next.begin..count).unwrap_or_default();
        let complete = match lines.split_last() {
            Some((last, complete)) if !self.cut_line.is_empty() && *last == self.cut_line => complete,
            Some(_) if self.cut_line.is_empty() => lines,
            _ => return false,
        };
        complete.len() >= self.lines.len() - last_at && self.lines.ends_with(complete)
    }

    /// Checks whether a reply, from its first block on, begins with the whole held one.
    fn is_all_repeated_by(&self, next: &NextReply<'_>) -> bool {
        let held = &self.lines[self.begin()..];
        let next = next.items.first().map_or(&[][..], |first| &next.lines[first.start..]);
        next.starts_with(held) && next.get(held.len()).is_some_and(|line| line.starts_with(self.cut_line))
    }

    fn repeats_any(&self, first: &FirstBlock<'_>) -> bool {
        self.blocks.iter().any(|block| self.repeats(first, block))
    }

    /// Checks whether the first block of a reply has the lines of a complete block, as far as it arrived.
    fn repeats(&self, first: &FirstBlock<'_>, block: &Range<usize>) -> bool {
        let block = &self.lines[block.clone()];
        match first.cut_line {
            None => block == first.lines,
            Some(cut_line) => {
                block.starts_with(first.lines)
                    && block.get(first.lines.len()).is_some_and(|line| line.starts_with(cut_line))
            }
        }
    }

    /// Checks whether the first block of a reply begins as the open block does.
    fn may_be_open_block(&self, first: &FirstBlock<'_>) -> bool {
        let open = &self.lines[self.open_line..];
        let common = open.len().min(first.lines.len());
        let is_long_enough = common == open.len() || first.cut_line.is_some();
        is_long_enough
            && first.lines[..common] == open[..common]
            && first.lines.get(open.len()).is_none_or(|line| line.starts_with(self.cut_line))
    }
}

/// The reply behind a held one.
struct NextReply<'a> {
    raw: Vec<&'a str>,
    /// The same lines without blanks around them.
    lines: Vec<&'a str>,
    items: Vec<Range<usize>>,
    /// True if it has blocks, and none is malformed.
    has_only_blocks: bool,
    has_stray_closer: bool,
    /// The part to hold if it is cut off, read alone.
    cut_off: Option<HeldReply>,
    /// True for each line inside of a closed thinking block, behind its first line.
    is_thought: Vec<bool>,
    /// The first line behind what chats and models put before a continuation.
    begin: usize,
}

/// The first block of a reply, as far as it arrived.
struct FirstBlock<'n> {
    /// Its first line in the reply.
    at: usize,
    lines: &'n [&'n str],
    /// The line in which it was cut off; `None` if it was not.
    cut_line: Option<&'n str>,
}

impl<'a> NextReply<'a> {
    fn read(text: &'a str) -> NextReply<'a> {
        let raw: Vec<&str> = text.lines().collect();
        let lines: Vec<&str> = raw.iter().map(|line| trimmed(line)).collect();
        let reply = read_in(text, Strictness::Repair, Dialect::Agentd);
        let has_only_blocks = reply.items.iter().all(|item| matches!(item, Item::Block(_)));
        let is_stray = |item: &Item<'_>| match item {
            Item::Error(error) => matches!(error.kind, ParseErrorKind::StrayClosing { .. }),
            Item::Block(_) => false,
        };
        let mut is_thought = vec![false; lines.len()];
        let mut begins_thinking = vec![false; lines.len()];
        for block in thinking(text) {
            begins_thinking[block.start] = true;
            is_thought[block.start + 1..block.end].fill(true);
        }
        let is_before = |at: &usize| is_thought[*at] || begins_thinking[*at] || is_preface(lines[*at]);
        let begin = (0..lines.len()).take_while(is_before).count();
        NextReply {
            has_only_blocks: has_only_blocks && !reply.items.is_empty(),
            has_stray_closer: reply.items.iter().any(is_stray),
            cut_off: HeldReply::of(text, &reply),
            items: reply.items.iter().map(lines_of).collect(),
            begin,
            raw,
            lines,
            is_thought,
        }
    }

    fn other(&self) -> Relation<'a> {
        if self.has_only_blocks { Relation::Other } else { Relation::Unclear }
    }

    fn first_block(&self) -> Option<FirstBlock<'_>> {
        let item = self.items.first()?;
        let lines = &self.lines[item.clone()];
        let cut = self.cut_off.as_ref().filter(|cut| cut.open_line == item.start);
        Some(match cut {
            None => FirstBlock { at: item.start, lines, cut_line: None },
            Some(cut) => {
                let complete = cut.text.lines().count() - cut.open_line;
                FirstBlock { at: item.start, lines: &lines[..complete], cut_line: Some(&cut.cut_line) }
            }
        })
    }

    /// Checks whether lines stand outside of all blocks, so that they would be left out with them.
    fn has_between_blocks(&self, wanted: &[&str]) -> bool {
        let is_outside = |at: usize| {
            let before = self.items.partition_point(|item| item.start <= at);
            !self.is_thought[at] && self.items[..before].last().is_none_or(|item| item.end <= at)
        };
        let mut starts = (0..self.lines.len()).filter(|at| self.lines[*at..].starts_with(wanted));
        weight(wanted) >= OVERLAP_CHARACTERS && starts.any(is_outside)
    }
}

/// Removes the blanks around a line, and a byte-order mark.
fn trimmed(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// Returns the lines of an item, 0-based.
fn lines_of(item: &Item<'_>) -> Range<usize> {
    let lines = item.lines();
    lines.first as usize - 1..lines.last as usize
}

/// Returns the lines of the closed thinking blocks.
fn thinking(text: &str) -> Vec<Range<usize>> {
    let mut thinking = Thinking::default();
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

/// Checks whether no line of a text reads as a tag.
fn is_prose(lines: &[&str]) -> bool {
    let text = lines.join("\n");
    let reply = read_in(&text, Strictness::Repair, Dialect::Agentd);
    reply.items.is_empty()
        && reply.refused.is_none()
        && !lines.iter().any(|line| closing_kind(line).is_some())
}

/// Checks for lines that chats and models put before a continuation: blank ones, fences, and the token of the message.
fn is_preface(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with("~~~")
        || crate::reply_to::is_token_line(line)
}

/// Returns for each line behind the first one how many lines from there on repeat the first ones.
///
/// This is the Z-algorithm: what repeats the first lines repeats their repetitions, too.
fn repetitions(lines: &[&str]) -> Vec<usize> {
    let mut counts = vec![0; lines.len()];
    let (mut start, mut end) = (0, 0);
    for at in 1..lines.len() {
        let mut count = if at < end { counts[at - start].min(end - at) } else { 0 };
        while at + count < lines.len() && lines[count] == lines[at + count] {
            count += 1;
        }
        counts[at] = count;
        if at + count > end {
            (start, end) = (at, at + count);
        }
    }
    counts
}

fn join<'a>(before: impl Iterator<Item = &'a str>, behind: &[&'a str]) -> String {
    let mut text = String::new();
    for line in before.chain(behind.iter().copied()) {
        text.push_str(line);
        text.push('\n');
    }
    text
}
