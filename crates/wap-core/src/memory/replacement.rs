//! `regexReplace` with replacements as in JavaScript.

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::{Reason, WapError};

/// A piece of a replacement text.
enum Piece {
    Text(String),
    Group(usize),
}

/// Replaces what a pattern matches: the first match, or every one with the flag `g`. Returns how many were replaced, and
/// how many there were, too.
pub(super) fn replace(
    text: &[u8],
    pattern: &str,
    replacement: &str,
    flags: Option<&str>,
) -> Result<(Vec<u8>, u64, u64), WapError> {
    let flags = flags.unwrap_or_default();
    if let Some(flag) = flags.chars().find(|flag| !"gimsu".contains(*flag)) {
        return Err(invalid(format!("the flag '{flag}' is not one of g, i, m, s and u")));
    }
    let regex = RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .build()
        .map_err(|error| invalid(format!("cannot use the pattern: {error}")))?;
    let pieces = parse(replacement, &regex)?;
    let limit = usize::from(!flags.contains('g'));
    let expand = |captures: &Captures<'_>| {
        pieces.iter().fold(Vec::new(), |mut out: Vec<u8>, piece| {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Group(group) => {
                    out.extend_from_slice(captures.get(*group).map_or(b"", |found| found.as_bytes()));
                }
            }
            out
        })
    };
    let matches = regex.find_iter(text).count() as u64;
    let replaced = if limit == 0 { matches } else { matches.min(1) };
    Ok((regex.replacen(text, limit, expand).into_owned(), replaced, matches))
}

fn parse(replacement: &str, regex: &Regex) -> Result<Vec<Piece>, WapError> {
    let mut pieces = Vec::new();
    let mut rest = replacement;
    while let Some(dollar) = rest.find('$') {
        pieces.push(Piece::Text(rest[..dollar].to_owned()));
        let after = &rest[dollar + 1..];
        let (piece, length) = match after.bytes().next() {
            Some(b'$') => (Piece::Text("$".to_owned()), 1),
            Some(b'&') => (Piece::Group(0), 1),
            Some(b'1'..=b'9') => numbered(after, regex)?,
            Some(b'0') if matches!(after.as_bytes().get(1), Some(b'1'..=b'9')) => numbered(after, regex)?,
            Some(b'{') => named(after, '}', regex)?,
            Some(b'<') => named(after, '>', regex)?,
            Some(b'`' | b'\'') => {
                return Err(invalid("the replacement uses $` or $', which are not supported".to_owned()));
            }
            _ => (Piece::Text("$".to_owned()), 0),
        };
        pieces.push(piece);
        rest = &after[length..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

/// One or two digits: two if there is such a group, as in JavaScript.
fn numbered(after: &str, regex: &Regex) -> Result<(Piece, usize), WapError> {
    let digits = after.bytes().take(2).take_while(u8::is_ascii_digit).count();
    for length in (1..=digits).rev() {
        let group: usize = after[..length].parse().expect("at most two digits are a number");
        if (1..regex.captures_len()).contains(&group) {
            return Ok((Piece::Group(group), length));
        }
    }
    let groups = regex.captures_len() - 1;
    Err(invalid(format!(
        "the replacement uses the group ${}, but the pattern has {groups}",
        &after[..digits]
    )))
}

fn named(after: &str, close: char, regex: &Regex) -> Result<(Piece, usize), WapError> {
    let end =
        after.find(close).ok_or_else(|| invalid(format!("the replacement has a '$' without '{close}'")))?;
    let name = &after[1..end];
    let group = regex.capture_names().position(|candidate| candidate == Some(name));
    let group = group.ok_or_else(|| {
        invalid(format!("the replacement uses the group '{name}', which the pattern lacks"))
    })?;
    Ok((Piece::Group(group), end + 1))
}

fn invalid(text: String) -> WapError {
    WapError::new(Reason::InvalidRegex, text)
}
