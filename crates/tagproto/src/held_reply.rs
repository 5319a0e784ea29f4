//! A reply that was cut off, and the reply that follows it.
//!
//! Chat windows end long answers in the middle. Such a reply is not carried out but held, and the next message asks the model to
//! continue from its last lines. The first of these rules that applies decides about the next reply:
//!
//! 1. It continues the held reply after these lines, if nothing before them reads as a tag, except for held lines directly in
//!    front of them, and other text before them reads as a greeting. A part of the lines only counts at the start.
//! 2. If it repeats all of the held reply at its start, line by line, it was written anew and is carried out alone.
//! 3. If its first block has the opening tag and the beginning of the block in which the held reply ended, that block was written
//!    anew, and replaces the incomplete block after the complete ones. If a complete block has the same tag, and for a message,
//!    the text of the block has to match too.
//! 4. If its first block repeats the first block of the held reply, it was written anew and is carried out alone.
//! 5. Any other whole reply is carried out instead of the held reply. It begins with a message, or has only blocks, with nothing
//!    but a greeting before them and no text after them: otherwise the blocks may be examples in the rest of a file.
//!
//! Nothing is carried out, and the model is asked again, if the reply contradicts these rules:
//!
//! - it completes the very tag in which the held reply ended, or has a closing tag that closes no block: it continues at the
//!   byte, and its blocks may be examples in the text of a file;
//! - the held reply ended in a tag, and the text after the lines does not begin with the part of the tag that had arrived;
//! - a tag of the open block's kind follows the lines before its closing tag, or the closing tag is missing and other tags
//!   follow: the lines were only quoted;
//! - blocks of the held reply are repeated after the lines: two consecutive blocks are consecutive again;
//! - the lines may be different ones: the reply begins some lines earlier, or with the line in which the held reply was cut off;
//! - text with a block or with the requested lines would be left out;
//! - it has the tag of the open block, but only the rest of its text;
//! - there are words of the model between the lines and the text that continues the line that was cut off;
//! - lines lost their indentation, or have a different one, and no line shows that this is intended.

mod greeting;
mod held_lines;
mod incoming;
mod next_reply;
mod relation;
mod seam;
mod shift;

pub use incoming::Incoming;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::held_lines::HeldLines;
use self::relation::Relation;
use crate::{
    BlockKind, Dialect, Item, ParseErrorKind, Reply,
    repair::{opening_kind, without_chat_ending},
    reply::read_blocks_with_error,
    session::Session,
};

/// The minimum number of non-blank characters of the lines at which two replies are joined, and the maximum number of such lines
/// within the block in which a reply ended.
const OVERLAP_CHARACTERS: usize = 20;
const OVERLAP_LINES: usize = 6;
/// The maximum number of lines with which a continuation begins.
const MOST_LINES: usize = 100;

/// A reply that ended inside a block or its opening tag, up to its last complete line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldReply {
    /// The text, up to the LF of the last complete line of the reply.
    text: String,
    /// The 0-based line of the opening tag of the block in which the reply ended; one past the text if the reply ended in that
    /// tag.
    open_line: usize,
    /// The line after the text, which may be incomplete, without whitespace at its end. Empty without such a line, and for a
    /// reply that was held by an earlier version.
    #[serde(default)]
    cut_line: String,
    /// The message that its first reply answered; `None` for a reply that was held by an earlier version.
    #[serde(default)]
    since: Option<u32>,
}

impl HeldReply {
    /// The maximum length of a held reply in bytes. A longer reply is read as if it were whole.
    pub const LIMIT_BYTES: usize = 4 << 20;

    /// The maximum number of characters of the lines with which a continuation begins; a reply with longer lines is read as if it
    /// were whole.
    pub const LINES_LIMIT_CHARACTERS: usize = 4000;

    /// The note about a held reply that another reply replaces.
    pub const DROPPED: &str =
        "the reply before your last one was cut off and is dropped: nothing of it was ever done";

    /// The same for a reply with DONE, which then does not end the session.
    pub const DROPPED_BEFORE_DONE: &str = "the reply before your last one was cut off and is dropped: nothing of it was ever done; DONE did not end the \
         session: send what is left to do, and DONE again";

    /// The note about a reply that is not held, since some of its blocks may have been carried out.
    pub const HAS_RUN: &str = "the reply that was cut off is dropped, because a part of it, or of another reply to the same message, was carried out, as \
         the results say; nothing of your last reply was done: send what is left to do as a new reply";

    /// Returns the complete lines of a reply that ends inside a block or a tag; `None` for any other reply.
    ///
    /// A block without a closing tag that is followed by further tags was not cut off: its closing tag was forgotten. A reply
    /// that ends in its first tag has nothing to hold.
    fn of(text: &str, reply: &Reply<'_>) -> Option<HeldReply> {
        let Some(Item::Error(error)) = reply.items.last() else { return None };
        if text.len() > HeldReply::LIMIT_BYTES {
            return None;
        }
        let open_line = usize::try_from(error.lines.first).ok()?.checked_sub(1)?;
        // The last line may have been cut even if a line break follows: editors add one.
        let lines: Vec<&str> = without_chat_ending(text).lines().collect();
        let complete = match error.kind {
            ParseErrorKind::CutTag { .. } if reply.items.len() > 1 => open_line,
            // A bracket in an unclosed value does not end the tag.
            ParseErrorKind::Unclosed { later_tags: 0, .. } | ParseErrorKind::MissingPath
                if reply.items.len() > 1
                    && lines.len() == open_line + 1
                    && lines[open_line].matches('"').count() % 2 == 1 =>
            {
                open_line
            }
            ParseErrorKind::Unclosed { later_tags: 0, .. } => (lines.len() - 1).max(open_line + 1),
            _ => return None,
        };
        let cut_line = lines.get(complete).map_or("", |line| line.trim_end()).to_owned();
        let text = lines[..complete].iter().flat_map(|line| [line, "\n"]).collect();
        let held = HeldReply { text, open_line, cut_line, since: None };
        let last_lines = held.last_lines();
        let characters: usize = last_lines.iter().map(|line| line.chars().count()).sum();
        let is_short = characters <= HeldReply::LINES_LIMIT_CHARACTERS && last_lines.len() <= MOST_LINES;
        is_short.then_some(held)
    }

    /// Checks whether this reply includes a reply to an earlier message that was not carried out.
    #[must_use]
    pub fn includes_reply_to(&self, sequence: u32) -> bool {
        self.since.is_some_and(|since| since <= sequence)
    }

    /// Returns the opening tag of the block in which the reply ended, as written; a part of it if the reply ended in the tag.
    #[must_use]
    pub fn open_tag(&self) -> &str {
        self.text.lines().nth(self.open_line).unwrap_or(&self.cut_line).trim()
    }

    /// Returns the closing tag of the block in which the reply ended; `None` if it ended in its opening tag.
    pub(crate) fn closing_tag(&self) -> Option<&'static str> {
        let tag = self.text.lines().nth(self.open_line)?;
        opening_kind(tag).map(BlockKind::closing_tag)
    }

    /// Returns the lines with which a continuation begins: as many of the last lines as it takes to find them again.
    ///
    /// They begin before the opening tag only if a reply that begins with that tag could also be the held reply, written anew.
    #[must_use]
    pub fn last_lines(&self) -> Vec<&str> {
        let lines: Vec<&str> = self.text.lines().collect();
        lines[self.last_lines_at()..].to_vec()
    }

    /// Returns the index of the first of the last lines.
    fn last_lines_at(&self) -> usize {
        let held = HeldLines::of(self);
        let HeldLines { lines, open_line, .. } = &held;
        let (count, open_line) = (lines.len(), *open_line);
        let fewest = held.fewest_unmistakable();
        let is_unmistakable = |at: usize| count - at >= fewest;
        let earliest = count.saturating_sub(OVERLAP_LINES).max(open_line);
        let in_block: Vec<usize> =
            enough_from(lines).take_while(|at| *at > open_line && *at >= earliest).collect();
        // If the same lines also occur above, a reply that begins some lines earlier would be joined at the wrong lines.
        let is_short = |at: usize| weight(&lines[at..]) <= HeldReply::LINES_LIMIT_CHARACTERS / 2;
        let unmistakable = in_block.iter().find(|at| is_unmistakable(**at) && is_short(**at));
        if let Some(at) = unmistakable.or(in_block.first()) {
            return *at;
        }
        let is_tag_enough = open_line < count && (!held.has_blocks() || is_unmistakable(open_line));
        if earliest > open_line || is_tag_enough {
            return earliest;
        }
        let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
        enough_from(lines).find(|at| *at < open_line && is_unmistakable(*at)).unwrap_or(first)
    }

    /// Returns the text with its possibly incomplete last line.
    fn whole_text(&self) -> String {
        format!("{}{}", self.text, self.cut_line)
    }

    /// Checks whether this reply begins with all complete blocks of an earlier reply.
    fn begins_with_blocks_of(&self, earlier: &HeldReply) -> bool {
        let blocks: usize = earlier.text.split_inclusive('\n').take(earlier.open_line).map(str::len).sum();
        self.text.starts_with(&earlier.text[..blocks])
    }
}

impl Session {
    /// Classifies a text that arrived as the reply to the pending outbox. Replies are only held in the dialect
    /// [`Dialect::Agentd`].
    #[must_use]
    pub fn incoming<'a>(&self, text: &'a str) -> Incoming<'a> {
        if self.dialect != Dialect::Agentd {
            return Incoming::Whole(Cow::Borrowed(text));
        }
        let Some(held) = &self.held else { return cut_off_or(Cow::Borrowed(text), Incoming::Whole) };
        match held.relation(text) {
            Relation::Joined(joined) if joined.len() > HeldReply::LIMIT_BYTES => Incoming::NotContinued,
            Relation::Joined(joined) => cut_off_or(joined, Incoming::Whole),
            Relation::Part => Incoming::CutOff { text: Cow::Owned(held.whole_text()), held: held.clone() },
            Relation::Anew => cut_off_or(Cow::Borrowed(text), |_| Incoming::Anew(text)),
            Relation::Other => cut_off_or(Cow::Borrowed(text), |_| Incoming::Instead(text)),
            Relation::Unclear => Incoming::NotContinued,
        }
    }

    /// Holds a reply that was cut off, at the time `now`; with `None`, keeps the held reply, to which the last reply could not be
    /// joined. Neither was carried out, and the next outbox is pending, which asks the model to continue.
    pub fn hold(&mut self, held: Option<HeldReply>, now: &str) {
        let mut notes = Vec::new();
        match held {
            Some(mut held) => {
                let earlier = self.held.as_ref();
                let continued = earlier.filter(|earlier| held.begins_with_blocks_of(earlier));
                notes.extend(
                    (earlier.is_some() && continued.is_none()).then(|| HeldReply::DROPPED.to_owned()),
                );
                held.since = continued.map_or(Some(self.sequence_number), |earlier| earlier.since);
                self.held = Some(held);
            }
            None => notes.push(NOT_CONTINUED.to_owned()),
        }
        self.pass_without_results(notes, now);
    }

    /// Drops the held reply, at the time `now`, since some of its blocks may have been carried out in a run that was stopped. The
    /// last reply was not carried out.
    pub fn drop_held(&mut self, now: &str) {
        self.held = None;
        self.pass_without_results(vec![HeldReply::HAS_RUN.to_owned()], now);
    }

    fn pass_without_results(&mut self, notes: Vec<String>, now: &str) {
        self.sequence_number += 1;
        self.last_results.clear();
        self.review.clear();
        self.notes = notes;
        self.read_file_requests.clear();
        self.read_file_ranges.clear();
        self.updated_at = now.to_owned();
    }
}

/// Returns a text as a reply that was cut off, or else the result of `whole`.
fn cut_off_or<'a>(text: Cow<'a, str>, whole: impl FnOnce(Cow<'a, str>) -> Incoming<'a>) -> Incoming<'a> {
    let may_be_cut_off = |error: &ParseErrorKind| {
        matches!(
            error,
            ParseErrorKind::CutTag { .. } | ParseErrorKind::Unclosed { .. } | ParseErrorKind::MissingPath
        )
    };
    let reply = read_blocks_with_error(&text, may_be_cut_off);
    match reply.and_then(|reply| HeldReply::of(&text, &reply)) {
        Some(held) => Incoming::CutOff { text, held },
        None => whole(text),
    }
}

/// The note about a reply that was not joined to the held reply.
const NOT_CONTINUED: &str = "your reply could not be joined to the one that was cut off, and nothing was done: begin with exactly the lines \
     below (not with the line after them, which was cut off), with their indentation, without the blocks that came before \
     them, and continue directly after them, without words of your own in between. If the rest of the text shows tags, put a dot in \
     front of each of these lines. To begin anew, or for something else, send a whole reply that begins with a [MESSAGE]";

/// Returns the lines, from the last to the first, from which the text has enough characters to find it again.
fn enough_from(lines: &[&str]) -> impl Iterator<Item = usize> {
    let mut characters = 0;
    (0..lines.len()).rev().filter(move |at| {
        characters += weight(&lines[*at..=*at]);
        characters >= OVERLAP_CHARACTERS && !lines[*at].is_empty()
    })
}

/// Returns the number of non-blank characters.
fn weight(lines: &[&str]) -> usize {
    lines.iter().flat_map(|line| line.chars()).filter(|character| !character.is_whitespace()).count()
}
