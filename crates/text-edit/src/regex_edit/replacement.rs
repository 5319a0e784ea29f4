//! The replacement string of a regular-expression edit, as JavaScript reads it.

use crate::{EditErrorKind, LineEnding};

/// The most references to groups in one replacement.
const REFERENCES: usize = 10_000;
/// The most characters that an error quotes of an invalid reference.
const QUOTED_CHARACTERS: usize = 100;

/// One piece of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Characters to be written as they are.
    Literal(String),
    /// The text that a group matched, empty if it did not participate; group 0 is the whole match.
    Group(usize),
}

/// Splits a replacement into pieces.
///
/// `group_names` has one item per group, the whole match (which has no name) first. A dollar sign that begins nothing is literal,
/// as in JavaScript. A reference to a group that does not exist is refused: JavaScript would write it out, Java would throw, and
/// neither is intended. The same holds for `` $` `` and `$'`, the text before and after the match, and for `\1`, which is a group
/// elsewhere.
pub(crate) fn parse(
    replacement: &str,
    group_names: &[Option<&str>],
    line_ending: LineEnding,
) -> Result<Vec<Piece>, EditErrorKind> {
    let group_count = group_names.len().saturating_sub(1);
    let bad = |reference: &str| {
        let group = reference.chars().take(QUOTED_CHARACTERS).collect();
        EditErrorKind::BadGroup { group, group_count }
    };
    if let Some(group) = backslash_group(replacement, group_count) {
        return Err(EditErrorKind::BackslashGroup { group });
    }
    let mut pieces = Pieces { pieces: Vec::new(), literal: String::new() };
    let mut rest = replacement;
    // Search for a missing bracket once, not from each dollar sign.
    let last_close = |close: char| replacement.rfind(close);
    let (last_brace, last_angle) = (last_close('}'), last_close('>'));
    while let Some(at) = rest.find('$') {
        pieces.literal.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut after = rest[1..].chars();
        let length = match after.next() {
            Some('$') => {
                pieces.literal.push('$');
                2
            }
            Some('&') => {
                pieces.group(0);
                2
            }
            Some('`' | '\'') => return Err(bad(&rest[..2])),
            Some(digit) if digit.is_ascii_digit() => {
                let (group, length) =
                    numbered(rest, group_count).ok_or_else(|| bad(&rest[..digits_end(rest)]))?;
                pieces.group(group);
                length
            }
            Some(open @ ('{' | '<')) => {
                let close = if open == '{' { '}' } else { '>' };
                let last = if open == '{' { last_brace } else { last_angle };
                let at = replacement.len() - rest.len();
                let is_closed = last.is_some_and(|last| last >= at + 2);
                match if is_closed { rest[2..].find(close) } else { None } {
                    Some(name_bytes) => {
                        let name = &rest[2..2 + name_bytes];
                        let group = named(name, group_names).ok_or_else(|| bad(&rest[..name_bytes + 3]))?;
                        pieces.group(group);
                        name_bytes + 3
                    }
                    None => {
                        pieces.literal.push('$');
                        1
                    }
                }
            }
            _ => {
                pieces.literal.push('$');
                1
            }
        };
        rest = &rest[length..];
        if pieces.pieces.len() > 2 * REFERENCES {
            return Err(EditErrorKind::TooManyReferences { limit: REFERENCES });
        }
    }
    pieces.literal.push_str(rest);
    Ok(pieces.finish(line_ending))
}

/// Returns the first group that is referred to as `\1`, as Python and sed do. Two backslashes before a digit are a backslash there.
fn backslash_group(replacement: &str, group_count: usize) -> Option<usize> {
    let mut is_escaped = false;
    replacement.chars().find_map(|character| {
        let group = character.to_digit(10).map(|digit| digit as usize).filter(|_| is_escaped);
        is_escaped = character == '\\' && !is_escaped;
        group.filter(|group| (1..=group_count).contains(group))
    })
}

struct Pieces {
    pieces: Vec<Piece>,
    literal: String,
}

impl Pieces {
    fn group(&mut self, group: usize) {
        if !self.literal.is_empty() {
            self.pieces.push(Piece::Literal(std::mem::take(&mut self.literal)));
        }
        self.pieces.push(Piece::Group(group));
    }

    fn finish(mut self, line_ending: LineEnding) -> Vec<Piece> {
        if !self.literal.is_empty() {
            self.pieces.push(Piece::Literal(self.literal));
        }
        for piece in &mut self.pieces {
            if let Piece::Literal(text) = piece
                && text.contains('\n')
            {
                *text = text.replace("\r\n", "\n").replace('\n', line_ending.as_str());
            }
        }
        self.pieces
    }
}

/// Returns the group that `$N` or `$NN` means, and the length of the reference: two digits if there is such a group, otherwise
/// one.
fn numbered(reference: &str, group_count: usize) -> Option<(usize, usize)> {
    let exists = |length: usize| {
        let group: usize = reference.get(1..length)?.parse().ok()?;
        (1..=group_count).contains(&group).then_some((group, length))
    };
    let two = if digits_end(reference) >= 3 { exists(3) } else { None };
    two.or_else(|| exists(2))
}

/// Returns the end of the (at most two) digits after the dollar sign.
fn digits_end(reference: &str) -> usize {
    1 + reference[1..].bytes().take(2).take_while(u8::is_ascii_digit).count()
}

/// Returns the group with this name; a number in braces is a group number.
fn named(name: &str, group_names: &[Option<&str>]) -> Option<usize> {
    if let Some(group) = group_names.iter().position(|group_name| *group_name == Some(name)) {
        return Some(group);
    }
    let all_digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let group: usize = if all_digits { name.parse().ok()? } else { return None };
    (1..group_names.len()).contains(&group).then_some(group)
}
