//! The lines of a held reply, compared with the lines of the next reply.

use std::collections::HashSet;
use std::ops::Range;

use super::next_reply::{FirstBlock, NextReply, lines_of, trimmed};
use super::{HeldReply, weight};
use crate::{
    BlockKind, Item,
    repair::{Fence, closing_kind, opening_kind},
    reply::read_blocks,
};

/// The minimum number of non-blank characters by which an open block is recognised if a complete block has the same tag.
pub(super) const OPEN_BLOCK_CHARACTERS: usize = 8;

/// The maximum length of a line in which a tag may have been cut off, and the maximum number of bytes that are read to try lines
/// as the rest of the tag.
const LONGEST_TAG: usize = 4096;
const TAG_BYTES: usize = 256 << 10;

/// The lines of a held reply.
pub(super) struct HeldLines<'h> {
    pub(super) raw: Vec<&'h str>,
    /// The trimmed lines.
    pub(super) lines: Vec<&'h str>,
    pub(super) open_line: usize,
    pub(super) cut_line: &'h str,
    /// The line with its indentation.
    pub(super) raw_cut_line: &'h str,
    /// The complete blocks, including malformed ones.
    pub(super) blocks: Vec<Range<usize>>,
    /// The kind of the block that was open; `None` if the reply ended in its tag.
    pub(super) open_kind: Option<BlockKind>,
}

impl<'h> HeldLines<'h> {
    pub(super) fn of(held: &'h HeldReply) -> HeldLines<'h> {
        // With the possibly incomplete line: without it, the text may be the same text twice, which is not read.
        let text = held.whole_text();
        let items = read_blocks(&text).items;
        let lines: Vec<&str> = held.text.lines().map(trimmed).collect();
        let is_open =
            |item: &&Item<'_>| lines_of(item).start == held.open_line && held.open_line < lines.len();
        let before = |item: &&Item<'_>| lines_of(item).start < held.open_line;
        HeldLines {
            open_kind: items.last().filter(is_open).map(Item::kind),
            blocks: items.iter().filter(before).map(lines_of).collect(),
            raw: held.text.lines().collect(),
            lines,
            open_line: held.open_line,
            cut_line: held.cut_line.trim(),
            raw_cut_line: &held.cut_line,
        }
    }

    /// Returns the smallest number of last lines that occur nowhere else in the reply, so that a reply that begins with them
    /// cannot begin with an earlier block too. Takes time linear in the text.
    pub(super) fn fewest_unmistakable(&self) -> usize {
        let backwards: Vec<&str> = self.lines.iter().rev().copied().collect();
        1 + repetitions(&backwards).into_iter().max().unwrap_or(0)
    }

    /// Checks whether the reply has complete blocks.
    pub(super) fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Returns the line of the first block.
    pub(super) fn begin(&self) -> usize {
        self.blocks.first().map_or(self.open_line, |block| block.start)
    }

    /// Checks whether a line is the opening tag of the block in which the reply ended.
    pub(super) fn is_open_tag(&self, line: &str) -> bool {
        match self.lines.get(self.open_line) {
            Some(tag) => line == *tag,
            None => line.starts_with(self.cut_line),
        }
    }

    /// Checks whether a complete block has the opening tag of the block in which the reply ended.
    pub(super) fn has_block_with_open_tag(&self) -> bool {
        self.blocks.iter().any(|block| self.is_open_tag(self.lines[block.start]))
    }

    /// Returns the number of non-blank characters that arrived after the tag of the open block.
    pub(super) fn open_characters(&self) -> usize {
        self.lines.get(self.open_line + 1..).map_or(0, |body| weight(body) + weight(&[self.cut_line]))
    }

    /// Returns the incomplete tag, opening or closing, in which the reply ended.
    pub(super) fn cut_tag(&self) -> Option<&'h str> {
        let is_opening = self.open_line == self.lines.len();
        let is_closing = self.open_kind.is_some_and(|kind| {
            self.cut_line.starts_with("[/") && kind.closing_tag().starts_with(self.cut_line)
        });
        Some(self.cut_line).filter(|_| is_opening || is_closing)
    }

    /// Checks whether a reply begins with the rest of the very tag in which this reply ended: its blocks may be examples in the
    /// text of that block.
    pub(super) fn is_continued_within_its_tag(&self, next: &NextReply<'_>) -> bool {
        if !self.cut_line.starts_with('[') || self.cut_line.len() > LONGEST_TAG {
            return false;
        }
        let is_tag = |line: &str| opening_kind(line).is_some() || closing_kind(line).is_some();
        let before = next.items.first().map_or(next.lines.len(), |first| first.start);
        let may_end_tag = |index: &usize| next.lines[*index].ends_with(']');
        let mut ends = (0..before).filter(may_end_tag);
        let completes = |index: usize| {
            let line = next.lines[index];
            !line.is_empty()
                && !next.is_thought[index]
                && !is_tag(line)
                && (is_tag(&format!("{}{line}", self.cut_line))
                    // The space between may be lost. Prose in front of a block may end in a bracket, too.
                    || index == next.begin && is_tag(&format!("{} {line}", self.cut_line)))
        };
        // Each such line costs the time of reading the tag. With too many lines, the result is unclear.
        ends.by_ref().take(TAG_BYTES / self.cut_line.len()).any(completes) || ends.next().is_some()
    }

    /// Checks whether no block begins with the last lines: then a reply that repeats the opening tag directly before them
    /// continues the block and does not write it anew.
    pub(super) fn are_in_the_middle(&self, last_at: usize) -> bool {
        let last = &self.lines[last_at..];
        let mut starts = self.blocks.iter().map(|block| block.start).chain([self.open_line]);
        last_at > self.open_line && !starts.any(|start| self.lines[start + 1..].starts_with(last))
    }

    /// Checks whether the held reply begins with the next reply, which was cut off too.
    pub(super) fn begins_with_all_of(&self, next: &NextReply<'_>) -> bool {
        let (Some(cut), Some(first)) = (&next.cut_off, next.items.first()) else { return false };
        let complete: Vec<&str> = cut.text.lines().map(trimmed).skip(first.start).collect();
        let held = &self.lines[self.begin()..];
        held.starts_with(&complete)
            && held.get(complete.len()).is_none_or(|line| line.starts_with(cut.cut_line.trim()))
    }

    /// Checks whether the held reply ends with the next reply, up to the very line in which both are cut off.
    pub(super) fn ends_with_all_of(&self, last_at: usize, next: &NextReply<'_>) -> bool {
        let count = next.lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let lines = next.lines.get(next.begin..count).unwrap_or_default();
        let complete = match lines.split_last() {
            Some((last, complete)) if !self.cut_line.is_empty() && *last == self.cut_line => complete,
            Some(_) if self.cut_line.is_empty() => lines,
            _ => return false,
        };
        complete.len() >= self.lines.len() - last_at && self.lines.ends_with(complete)
    }

    /// Checks whether a reply, from its first block, begins with the whole held reply.
    pub(super) fn is_all_repeated_by(&self, next: &NextReply<'_>) -> bool {
        let held = &self.lines[self.begin()..];
        let next = next.items.first().map_or(&[][..], |first| &next.lines[first.start..]);
        next.starts_with(held) && next.get(held.len()).is_some_and(|line| line.starts_with(self.cut_line))
    }

    pub(super) fn repeats_any(&self, first: &FirstBlock<'_>) -> bool {
        self.blocks.iter().any(|block| self.repeats(first, block))
    }

    /// Checks whether the part of a reply's first block that arrived has the lines of a complete block.
    pub(super) fn repeats(&self, first: &FirstBlock<'_>, block: &Range<usize>) -> bool {
        let block = &self.lines[block.clone()];
        match first.cut_line {
            None => block == first.lines,
            Some(cut_line) => {
                block.starts_with(first.lines)
                    && block.get(first.lines.len()).is_some_and(|line| line.starts_with(cut_line))
            }
        }
    }

    /// Checks whether a block with the opening tag of the open block begins like it, so it is not just the rest of it.
    ///
    /// A file may have another first line, if the old first line follows, or if it begins with the same word and the text is like
    /// the held one: the next chapter, import or stage begins like the first one, too. The rest of a command or edit must not be
    /// carried out alone; texts for the user do no harm.
    pub(super) fn is_written_anew(&self, first: &FirstBlock<'_>) -> bool {
        let is_significant =
            |line: &&&str| !line.is_empty() && Fence::read(line).is_none() && !is_hunk_mark(line);
        let body =
            |lines: &[&'h str]| -> Vec<&'h str> { lines.iter().filter(is_significant).copied().collect() };
        let held = body(self.lines.get(self.open_line + 1..).unwrap_or_default());
        let Some(begin) = held.first() else { return true };
        let next = first.lines[1..].iter().filter(is_significant);
        let same = held.iter().zip(next.clone()).take_while(|(held, next)| held == next).count();
        if matches!(first.kind, BlockKind::Message | BlockKind::Done) {
            return true;
        }
        if first.kind != BlockKind::CreateFile {
            return same >= held.len().min(2);
        }
        let has_begin = weight(&[begin]) >= OPEN_BLOCK_CHARACTERS && next.clone().any(|line| line == begin);
        let is_like_held = || is_like(next.clone().copied(), &held);
        let may_be_first = |line: &&str| {
            let is_rest = !self.cut_line.is_empty() && line.starts_with(self.cut_line);
            !is_rest && !held.contains(line) && (has_begin || is_only_such(line, &held) && is_like_held())
        };
        if same > 0 {
            // Many parts of a file begin with the same line if it has no word, such as the opening mark of a comment.
            return has_word(begin) || same == held.len() || is_like_held();
        }
        next.clone().next().is_some_and(may_be_first)
    }

    /// Checks whether a block repeats the first block, which occurs only once in the held reply.
    pub(super) fn repeats_first_once(&self, block: &[&str]) -> bool {
        self.blocks.iter().position(|held| self.lines[held.clone()] == *block) == Some(0)
            && !self.blocks[1..].iter().any(|held| self.lines[held.clone()] == *block)
    }

    /// Checks whether the first block of a reply begins like the open block.
    pub(super) fn may_be_open_block(&self, first: &FirstBlock<'_>) -> bool {
        let open = &self.lines[self.open_line..];
        let common = open.len().min(first.lines.len());
        let is_long_enough = common == open.len() || first.cut_line.is_some();
        is_long_enough
            && first.lines[..common] == open[..common]
            && first.lines.get(open.len()).is_none_or(|line| line.starts_with(self.cut_line))
    }
}

/// Checks whether a line begins with the word with which the first of the held lines begins, and no other of them does.
fn is_only_such(line: &str, held: &[&str]) -> bool {
    let word = |line: &str| line.split_whitespace().next().filter(|word| has_word(word)).map(str::to_owned);
    let Some((first, others)) = held.split_first() else { return false };
    let wanted = word(line);
    wanted.is_some() && word(first) == wanted && others.iter().all(|other| word(other) != wanted)
}

/// Checks whether a text is not shorter than the held one, and has at least half of the lines after its first one. Lines without
/// a word are in any text.
fn is_like<'n>(next: impl Iterator<Item = &'n str>, held: &[&str]) -> bool {
    let next: Vec<&str> = next.collect();
    let lines: HashSet<&str> = next.iter().copied().collect();
    let others: Vec<&&str> = held.iter().skip(1).filter(|line| has_word(line)).collect();
    let repeated = others.iter().filter(|line| lines.contains(**line)).count();
    next.len() >= held.len() && repeated > 0 && repeated * 2 >= others.len()
}

fn has_word(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// Checks for a line that marks a part of a hunk.
fn is_hunk_mark(line: &str) -> bool {
    let marks = ["<<<<<", "=====", ">>>>>"];
    marks.iter().any(|mark| line.starts_with(mark))
}

/// Returns for each line after the first the number of lines from there that repeat the first lines.
///
/// This is the Z-algorithm: lines that repeat the first lines also repeat the repetitions in them.
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
