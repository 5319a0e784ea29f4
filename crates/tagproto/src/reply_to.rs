//! The token with which a reply names the outbox that it answers.

use std::{fmt, str::FromStr};

use crate::{Item, SessionId, Strictness, read};

/// The outbox that a reply answers. Written as `a1b2c3d4-3` in the header line `Reply-To:` of the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplyTo {
    /// The session.
    pub session: SessionId,
    /// The number of the outbox within the session, 1-based.
    pub sequence: u32,
}

impl ReplyTo {
    /// Finds the token that a reply echoes: the first line `Reply-To: …` outside of blocks.
    ///
    /// Bold, back-ticks, a quote or list mark around the line and a full stop after it are tolerated, as is any case of the
    /// label. A line with that label but without a token is ignored. Blocks are found with paste repair; a reply that repair
    /// refuses has no blocks.
    #[must_use]
    pub fn find(reply: &str) -> Option<ReplyTo> {
        let blocks = read(reply, Strictness::Repair).items;
        let mut blocks = blocks.iter().map(|item| match item {
            Item::Block(block) => block.lines,
            Item::Error(error) => error.lines,
        });
        let mut block = blocks.next();
        for (line_number, line) in (1_u32..).zip(reply.lines()) {
            // Blocks and lines are in the same order, so both are walked once.
            while block.is_some_and(|lines| lines.last < line_number) {
                block = blocks.next();
            }
            let in_block = block.is_some_and(|lines| lines.first <= line_number);
            if let (false, Some(token)) = (in_block, read_line(line)) {
                return Some(token);
            }
        }
        None
    }
}

impl fmt::Display for ReplyTo {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.session, self.sequence)
    }
}

impl FromStr for ReplyTo {
    type Err = MalformedReplyTo;

    /// Parses `a1b2c3d4-3`.
    ///
    /// # Errors
    ///
    /// [`MalformedReplyTo`] for anything else, including a sequence of 0.
    fn from_str(text: &str) -> Result<ReplyTo, MalformedReplyTo> {
        let (session, sequence) = text.split_once('-').ok_or(MalformedReplyTo)?;
        let session = session.parse().map_err(|_| MalformedReplyTo)?;
        let digits_only = sequence.bytes().all(|byte| byte.is_ascii_digit()) && !sequence.starts_with('0');
        match sequence.parse() {
            Ok(sequence) if digits_only => Ok(ReplyTo { session, sequence }),
            _ => Err(MalformedReplyTo),
        }
    }
}

/// The error for a text that is not a token of an outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a reply token like a1b2c3d4-3")]
#[non_exhaustive]
pub struct MalformedReplyTo;

/// Checks whether a line holds a token and nothing else.
pub(crate) fn is_token_line(line: &str) -> bool {
    read_line(line).is_some()
}

/// Parses a line that consists of the label, the token and decoration.
fn read_line(line: &str) -> Option<ReplyTo> {
    const LABEL: &str = "reply-to";
    // Neither label nor token contains these characters, so they can be dropped anywhere.
    let plain: String = line.chars().filter(|character| !matches!(character, '*' | '_' | '`')).collect();
    let plain = plain.trim_start_matches(|character: char| {
        character.is_whitespace() || matches!(character, '>' | '-' | '#' | '\u{2022}' | '\u{feff}' | '"')
    });
    let label = plain.get(..LABEL.len())?;
    if !label.eq_ignore_ascii_case(LABEL) {
        return None;
    }
    let token = plain[LABEL.len()..].trim_start().strip_prefix(':')?.trim();
    token.trim_end_matches(['.', '"', ',']).to_ascii_lowercase().parse().ok()
}
