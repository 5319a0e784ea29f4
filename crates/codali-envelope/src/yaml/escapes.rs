//! Repairs double-quoted texts whose backslashes a model did not escape.

use std::borrow::Cow;

/// Doubles the backslashes that are meant literally, in a quoted text, or in a list or map in brackets.
///
/// YAML reads `"src\app.rs"` with a bell in it, `"src\Lib"` with a line separator, and refuses `"src\main.rs"`.
/// Models mean a path, or a search pattern. Unchanged are `\"`, `\\`, `\/`, numeric escapes, and, if nothing else
/// within the same quotes is repaired, `\n`, `\t` and `\r`.
pub(crate) fn repaired(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut repaired = String::with_capacity(text.len() + 8);
    let (mut rest, mut last): (&str, Option<char>) = (text, None);
    while let Some(character) = rest.chars().next() {
        // A quote mark within a word is an apostrophe.
        let may_begin = last.is_none_or(|last| "[{,:\"'".contains(last));
        let (first, tail) = rest.split_at(character.len_utf8());
        repaired.push_str(first);
        rest = tail;
        if !character.is_whitespace() {
            last = Some(character);
        }
        if may_begin && matches!(character, '"' | '\'') {
            let end = if character == '"' { end_of_quotes(rest) } else { rest.find('\'') };
            let (inside, tail) = rest.split_at(end.unwrap_or(rest.len()));
            if character == '"' {
                write_repaired(inside, &mut repaired);
            } else {
                repaired.push_str(inside);
            }
            // The closing mark does not begin another text.
            let mark = tail.len().min(1);
            repaired.push_str(&tail[..mark]);
            rest = &tail[mark..];
        }
    }
    Cow::Owned(repaired)
}

/// Replaces the escapes that [`repaired`] would double with numeric ones, in JSON or a double-quoted YAML text.
pub(crate) fn numbered(text: &str) -> String {
    let mut numbered = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        numbered.push(character);
        if character != '\\' {
            continue;
        }
        match characters.next() {
            Some('0') => numbered.push_str("u0000"),
            Some('a') => numbered.push_str("u0007"),
            Some('b') => numbered.push_str("u0008"),
            Some('v') => numbered.push_str("u000b"),
            Some('f') => numbered.push_str("u000c"),
            Some('e') => numbered.push_str("u001b"),
            Some('N') => numbered.push_str("u0085"),
            Some('_') => numbered.push_str("u00a0"),
            Some('L') => numbered.push_str("u2028"),
            Some('P') => numbered.push_str("u2029"),
            other => numbered.extend(other),
        }
    }
    numbered
}

/// Returns the offset of the closing double quote.
fn end_of_quotes(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        closes
    })
}

/// Appends the repaired text between double quotes.
fn write_repaired(inside: &str, repaired: &mut String) {
    let is_letter = |rest: &str| !is_intended(rest) || rest.starts_with(['n', 't', 'r']);
    let has_letters = escapes(inside).any(|rest| !is_intended(rest));
    let mut done = 0;
    for rest in escapes(inside).filter(|rest| has_letters && is_letter(rest)) {
        let at = inside.len() - rest.len();
        repaired.push_str(&inside[done..at]);
        repaired.push('\\');
        done = at;
    }
    repaired.push_str(&inside[done..]);
}

/// Returns the text after each backslash that may begin an escape.
fn escapes(inside: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside;
    std::iter::from_fn(move || {
        let tail = &rest[rest.find('\\')? + 1..];
        let escaped = tail.chars().next().filter(|one| is_intended(tail) || *one == '\\');
        rest = &tail[escaped.map_or(0, char::len_utf8)..];
        Some(tail)
    })
}

/// Returns true if the text after a backslash makes it an intended escape.
fn is_intended(rest: &str) -> bool {
    let has_digits = |count: usize| {
        rest.get(1..=count).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    match rest.chars().next() {
        None | Some('"' | '\\' | '/' | 'n' | 't' | 'r' | ' ' | '\n') => true,
        Some('x') => has_digits(2),
        Some('u') => has_digits(4),
        Some('U') => has_digits(8),
        Some(_) => false,
    }
}
