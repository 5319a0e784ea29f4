//! The relation of a reply to the held reply before it.

use std::borrow::Cow;
use std::collections::HashSet;

use super::HeldReply;
use super::held_lines::{HeldLines, OPEN_BLOCK_CHARACTERS};
use super::next_reply::{NextReply, lines_of, trimmed};
use super::seam::Seam;
use crate::{BlockKind, Item, ParseErrorKind, reply::read_blocks};

/// The relation of a reply to the held reply.
#[derive(Debug)]
pub(super) enum Relation<'a> {
    /// The continuation of the held reply, or its last block written anew; holds the joined text.
    Joined(Cow<'a, str>),
    /// A part of the held reply, also cut off, with nothing new.
    Part,
    /// The held reply written anew, from its first block.
    Anew,
    /// Another whole reply.
    Other,
    /// Undeterminable.
    Unclear,
}

impl HeldReply {
    /// Determines the relation of a reply to this one, by the rules in the documentation of the module.
    pub(super) fn relation<'a>(&self, text: &'a str) -> Relation<'a> {
        let (held, next) = (HeldLines::of(self), NextReply::read(text));
        let last_at = self.last_lines_at();
        if held.begins_with_all_of(&next) {
            return Relation::Part;
        }
        if held.is_continued_within_its_tag(&next) {
            return Relation::Unclear;
        }
        match held.seam(last_at, &next) {
            Seam::Unclear => return Relation::Unclear,
            Seam::At { continuation } => return held.joined(join(self.text.lines(), &continuation)),
            Seam::None => {}
        }
        if held.ends_with_all_of(last_at, &next) {
            return Relation::Part;
        }
        self.by_its_first_block(&held, &next, last_at, text)
    }

    /// Determines the relation of a reply without a seam.
    fn by_its_first_block<'a>(
        &self,
        held: &HeldLines<'_>,
        next: &NextReply<'a>,
        last_at: usize,
        text: &'a str,
    ) -> Relation<'a> {
        let Some(first) = next.first_block() else { return Relation::Unclear };
        let is_all_again = held.is_all_repeated_by(next);
        let begins_again = held.blocks.first().is_some_and(|block| held.repeats(&first, block));
        let leaves_lines_out = !begins_again && next.has_between_blocks(&held.lines[last_at..]);
        // A closing tag without its block ends a text whose beginning did not arrive: the blocks may be examples in it.
        if !is_all_again && (leaves_lines_out || next.has_stray_closer) {
            return Relation::Unclear;
        }
        let opens = held.is_open_tag(next.lines[first.at]);
        if held.blocks.is_empty() {
            return match opens {
                true if held.is_written_anew(&first) => Relation::Joined(Cow::Borrowed(text)),
                true => Relation::Unclear,
                false => next.other(),
            };
        }
        if is_all_again {
            return Relation::Anew;
        }
        if opens {
            // A message may also begin a reply about something else, as requested.
            let is_tag_enough = first.kind != BlockKind::Message && !held.has_block_with_open_tag();
            if is_tag_enough || held.may_be_open_block(&first) {
                let is_certain = match is_tag_enough {
                    true => held.is_written_anew(&first),
                    false => !held.repeats_any(&first) && held.open_characters() >= OPEN_BLOCK_CHARACTERS,
                };
                if !is_certain {
                    return Relation::Unclear;
                }
                return held.joined(join(self.text.lines().take(self.open_line), &next.raw[first.at..]));
            }
        }
        match begins_again {
            true if next.items[1..].iter().any(|item| held.repeats_first_once(&next.lines[item.clone()])) => {
                Relation::Unclear
            }
            true => Relation::Anew,
            false => next.other(),
        }
    }
}

impl HeldLines<'_> {
    /// Returns a joined text, unless it contradicts a continuation: the open block is not closed before other blocks, or blocks
    /// of the held reply are repeated after it.
    fn joined<'a>(&self, text: String) -> Relation<'a> {
        let reply = read_blocks(&text);
        let is_swallowed = |item: &Item<'_>| {
            let Item::Error(error) = item else { return false };
            matches!(error.kind, ParseErrorKind::Unclosed { later_tags: 1.., .. })
        };
        let lines: Vec<&str> = text.lines().map(trimmed).collect();
        let is_open = |item: &&Item<'_>| lines_of(item).start >= self.open_line;
        let open_kind = reply.items.iter().find(is_open).map(Item::kind);
        // Without the blocks that change nothing, which may differ now, and with them.
        let is_counted = |item: &&Item<'_>| item.kind().acts() || Some(item.kind()) == open_kind;
        let blocks = |items: Vec<&Item<'_>>| Blocks {
            open: items.iter().position(&is_open).unwrap_or(items.len()),
            acts: items.iter().map(|item| item.kind().acts()).collect(),
            lines: items.into_iter().map(|item| &lines[lines_of(item)]).collect(),
            ends_in_tag: self.open_kind.is_none(),
        };
        let is_repeated = blocks(reply.items.iter().filter(is_counted).collect()).are_repeated()
            || blocks(reply.items.iter().collect()).are_repeated();
        if reply.items.iter().any(is_swallowed) || is_repeated {
            return Relation::Unclear;
        }
        Relation::Joined(Cow::Owned(text))
    }
}

/// The blocks of a joined text.
struct Blocks<'t> {
    lines: Vec<&'t [&'t str]>,
    /// True for each block that changes something.
    acts: Vec<bool>,
    /// The index of the block in which the held reply ended.
    open: usize,
    /// True if the held reply ended in that block's tag.
    ends_in_tag: bool,
}

impl Blocks<'_> {
    /// Checks whether blocks from the open block repeat earlier blocks: two consecutive blocks are consecutive again, or the only
    /// complete or open block occurs twice in a row. A single block may well occur twice in a reply, such as the command that
    /// runs the tests.
    fn are_repeated(&self) -> bool {
        let Blocks { lines, open, .. } = self;
        let (blocks, open) = (&**lines, *open);
        let is_twice = |at: usize| self.acts.get(at) == Some(&true) && blocks.get(at) == blocks.get(at + 1);
        if open == 0 && is_twice(0) || open > 0 && self.ends_in_tag && is_twice(open - 1) {
            return true;
        }
        let pairs =
            || blocks.windows(2).zip(self.acts.windows(2)).map(|(pair, acts)| (pair, acts.contains(&true)));
        let counts = |(pair, acts): &(&[&[&str]], bool)| *acts && pair[0] != pair[1];
        let mut passed: HashSet<&[&[&str]]> =
            pairs().take(open).filter(counts).map(|(pair, _)| pair).collect();
        // The open block may have another text now, if its path distinguishes it.
        let is_before_open = |pair: &[&[&str]]| {
            let tag = blocks[open][0];
            open > 0 && pair[0] == blocks[open - 1] && pair[1][0] == tag && tag.contains("path=")
        };
        for (index, (pair, _)) in pairs().skip(open).filter(counts).enumerate() {
            if passed.contains(pair) || is_before_open(pair) {
                return true;
            }
            if index == 0 {
                passed.insert(pair);
            }
        }
        false
    }
}

fn join<'a>(before: impl Iterator<Item = &'a str>, continuation: &[&'a str]) -> String {
    let mut text = String::new();
    for line in before.chain(continuation.iter().copied()) {
        text.push_str(line);
        text.push('\n');
    }
    text
}
