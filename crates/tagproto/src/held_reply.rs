//! A reply that was cut off, and the reply that continues it.
//!
//! Chat windows end long answers in the middle. Nothing of such a reply is carried out: it is held, the next message asks the
//! model to go on from its last lines, and the continuation is joined to it where these lines are repeated.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Item, ParseErrorKind, Reply, Strictness, read_in, session::Session};

/// The fewest non-blank characters of the lines at which two replies are joined, and the most such lines.
const OVERLAP_CHARACTERS: usize = 20;
const OVERLAP_LINES: usize = 6;
/// The fewest non-blank characters of a shorter overlap, with which a continuation may begin.
const SHORT_OVERLAP_CHARACTERS: usize = 8;

/// A reply that ended inside a block, up to its last complete line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldReply {
    /// The text. It ends with LF, and its last line is the last complete one of the reply.
    text: String,
    /// The line of the opening tag of the block that the reply ended in, 0-based.
    open_line: usize,
    /// True if a complete block stands before that one.
    follows_blocks: bool,
    /// The message that the first reply of it answered; `None` for one that was held before this was kept.
    #[serde(default)]
    since: Option<u32>,
}

/// A reply as it arrived, seen with the one that is held before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A whole reply, joined to the held one if it continues that.
    Whole(Cow<'a, str>),
    /// A whole reply that has nothing to do with the held one, of which nothing is ever carried out.
    Instead(&'a str),
    /// A reply that ends inside a block: its whole text, and the part of it to hold.
    CutOff {
        /// The text, joined to the reply that was held before, if there is one.
        text: Cow<'a, str>,
        /// Its complete lines.
        held: HeldReply,
    },
    /// A reply that should have continued the held one, and neither repeats its last lines nor stands alone.
    NotContinued,
}

impl Incoming<'_> {
    /// Returns the whole text, as far as it arrived; `None` if it cannot be determined.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Incoming::Whole(text) | Incoming::CutOff { text, .. } => Some(text),
            Incoming::Instead(text) => Some(text),
            Incoming::NotContinued => None,
        }
    }

    /// Checks whether nothing of the reply is carried out. With `run_complete`, the complete blocks of a reply that was cut off
    /// are.
    #[must_use]
    pub fn is_held(&self, run_complete: bool) -> bool {
        match self {
            Incoming::Whole(_) | Incoming::Instead(_) => false,
            Incoming::CutOff { .. } => !run_complete,
            Incoming::NotContinued => true,
        }
    }

    /// Returns the part to hold.
    #[must_use]
    pub fn into_held(self) -> Option<HeldReply> {
        match self {
            Incoming::CutOff { held, .. } => Some(held),
            _ => None,
        }
    }
}

impl HeldReply {
    /// The most bytes of a reply that is held. A longer one is read as if it were whole.
    pub const LIMIT_BYTES: usize = 4 << 20;

    /// The most characters of the lines with which a continuation begins; a reply with longer ones is read as if it were
    /// whole.
    pub const LINES_LIMIT_CHARACTERS: usize = 4000;

    /// The note about a reply that is dropped, because the next one has nothing to do with it.
    pub const DROPPED: &str =
        "the reply before your last one was cut off and is dropped: nothing of it was ever done";

    /// Returns the complete lines of a reply that ends inside a block; `None` if it does not.
    ///
    /// A block without a closing tag that is followed by further tags was not cut off: its closing tag was forgotten.
    fn of(text: &str, reply: &Reply<'_>) -> Option<HeldReply> {
        let Some(Item::Error(error)) = reply.items.last() else { return None };
        if !matches!(error.kind, ParseErrorKind::Unclosed { later_tags: 0, .. })
            || text.len() > HeldReply::LIMIT_BYTES
        {
            return None;
        }
        let open_line = usize::try_from(error.lines.first).ok()?.checked_sub(1)?;
        let follows_blocks = reply.items.iter().any(|item| matches!(item, Item::Block(_)));
        // The last line may have been cut, whether a line break follows it or not: editors add one.
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let complete = (lines.len() - 1).max(open_line + 1);
        let text = lines[..complete].iter().flat_map(|line| [line, "\n"]).collect();
        let held = HeldReply { text, open_line, follows_blocks, since: None };
        let characters: usize = held.last_lines().iter().map(|line| line.chars().count()).sum();
        (characters <= HeldReply::LINES_LIMIT_CHARACTERS).then_some(held)
    }

    /// Checks whether a reply to an earlier message, of which nothing was carried out, is a part of this one.
    #[must_use]
    pub fn includes_reply_to(&self, sequence: u32) -> bool {
        self.since.is_some_and(|since| since <= sequence)
    }

    /// Returns the opening tag of the block in which the reply ended, as it was written.
    #[must_use]
    pub fn open_tag(&self) -> &str {
        self.text.lines().nth(self.open_line).unwrap_or_default().trim()
    }

    /// Returns the lines with which a continuation begins: the last ones, as many as it takes to find them again, and none
    /// before the opening tag.
    #[must_use]
    pub fn last_lines(&self) -> Vec<&str> {
        let lines: Vec<&str> = self.text.lines().collect();
        let most = OVERLAP_LINES.min(lines.len() - self.open_line);
        let count = (1..=most).find(|count| {
            let last = &lines[lines.len() - count..];
            !last[0].trim().is_empty() && weight(last) >= OVERLAP_CHARACTERS
        });
        lines[lines.len() - count.unwrap_or(most)..].to_vec()
    }

    /// Joins a continuation to the reply: `None` if it does not repeat lines at which they can be joined.
    fn joined<'a>(&self, next: &'a str) -> Option<Cow<'a, str>> {
        let lines: Vec<&str> = next.lines().collect();
        let trimmed: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        let restart = trimmed.iter().position(|line| *line == self.open_tag());
        let seam = self.seam(&trimmed);
        match (restart, seam) {
            // A model that writes the block anew may write it otherwise, so its earlier beginning does not count.
            (Some(restart), seam) if seam.is_none_or(|(start, _)| restart < start) => {
                Some(if self.follows_blocks {
                    Cow::Owned(join(self.text.lines().take(self.open_line), &lines[restart..]))
                } else {
                    Cow::Borrowed(next)
                })
            }
            (_, seam) => seam.map(|(_, end)| Cow::Owned(join(self.text.lines(), &lines[end..]))),
        }
    }

    /// Finds the last lines in a continuation: the first line of theirs, and the first one behind them.
    ///
    /// All of them count wherever they stand, a part of them only at the start.
    fn seam(&self, next: &[&str]) -> Option<(usize, usize)> {
        let last: Vec<&str> = self.last_lines().iter().map(|line| line.trim()).collect();
        if let Some(at) = next.windows(last.len()).position(|window| window == last) {
            return Some((at, at + last.len()));
        }
        let start = next.iter().position(|line| !is_preface(line))?;
        let parts = (1..last.len()).map(|count| &last[count..]);
        let part = parts
            .filter(|part| weight(part) >= SHORT_OVERLAP_CHARACTERS)
            .find(|part| next[start..].starts_with(part))?;
        Some((start, start + part.len()))
    }

    /// Checks whether a text reads as the rest of the block: it closes the block before it opens one of that kind.
    fn is_rest(&self, next: &str) -> bool {
        let name = self.open_tag().trim_start_matches('[');
        let name =
            name.split(|character: char| !(character.is_ascii_alphabetic() || character == '_')).next();
        let name = name.unwrap_or_default();
        let (opening, closing) = (format!("[{name}"), format!("[/{name}]"));
        let tag = next.lines().map(str::trim).find(|line| line.starts_with(&opening) || *line == closing);
        tag == Some(&closing)
    }
}

impl Session {
    /// Determines what arrived as the reply to the pending outbox. Only in the dialect
    /// [`Dialect::Agentd`](crate::Dialect::Agentd) a reply can be held.
    #[must_use]
    pub fn incoming<'a>(&self, text: &'a str) -> Incoming<'a> {
        if self.dialect != crate::Dialect::Agentd {
            return Incoming::Whole(Cow::Borrowed(text));
        }
        let joined = match &self.held {
            None => Cow::Borrowed(text),
            Some(held) => match held.joined(text).filter(|joined| joined.len() <= HeldReply::LIMIT_BYTES) {
                Some(joined) => joined,
                None => {
                    let reply = read_in(text, Strictness::Repair, self.dialect);
                    let is_whole = reply.items.iter().all(|item| matches!(item, Item::Block(_)));
                    return if is_whole && !reply.items.is_empty() && !held.is_rest(text) {
                        Incoming::Instead(text)
                    } else {
                        Incoming::NotContinued
                    };
                }
            },
        };
        let held = HeldReply::of(&joined, &read_in(&joined, Strictness::Repair, self.dialect));
        match held {
            Some(held) => Incoming::CutOff { text: joined, held },
            None => Incoming::Whole(joined),
        }
    }

    /// Holds a reply that was cut off, or one more of which nothing could be joined to it, at the time `now`. Nothing of it was
    /// carried out, and the next outbox is pending, which asks the model to go on.
    pub fn hold(&mut self, held: Option<HeldReply>, now: &str) {
        let notes = match &held {
            Some(_) => Vec::new(),
            None => vec![NOT_CONTINUED.to_owned()],
        };
        if let Some(mut held) = held {
            held.since = self.held.as_ref().map_or(Some(self.sequence_number), |earlier| earlier.since);
            self.held = Some(held);
        }
        self.sequence_number += 1;
        self.last_results.clear();
        self.review.clear();
        self.notes = notes;
        self.read_file_requests.clear();
        self.read_file_ranges.clear();
        self.updated_at = now.to_owned();
    }
}

/// The note about a reply that does not continue the held one.
const NOT_CONTINUED: &str = "your reply did not begin with the last lines of the one that was cut off, so the two could not be joined, and \
     nothing was done: begin with these lines, or send a whole new reply";

/// Returns the number of non-blank characters.
fn weight(lines: &[&str]) -> usize {
    lines.iter().flat_map(|line| line.chars()).filter(|character| !character.is_whitespace()).count()
}

/// Checks for lines that chats and models put before a continuation: blank ones, fences, and the token of the message.
fn is_preface(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with("~~~")
        || crate::reply_to::is_token_line(line)
}

fn join<'a>(before: impl Iterator<Item = &'a str>, behind: &[&'a str]) -> String {
    before.chain(behind.iter().copied()).flat_map(|line| [line, "\n"]).collect()
}
