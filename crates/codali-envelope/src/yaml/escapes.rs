//! Backslashes in double quotes that begin no escape that a model writes.

use std::borrow::Cow;

/// Returns a quoted text, or a list or map in brackets, in which backslashes that mean themselves are doubled.
///
/// YAML reads `"src\app.rs"` with a bell in it, `"src\Lib"` with a line separator, and refuses `"src\main.rs"`. Models mean a
/// path, or the pattern of a search. What stays are `\"`, `\\`, `\/`, numbers of characters, and where nothing else within the
/// same quotes is mended, `\n`, `\t` and `\r`.
pub(crate) fn mended(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len() + 8);
    let (mut rest, mut last): (&str, Option<char>) = (text, None);
    while let Some(character) = rest.chars().next() {
        // Within a word, a quote mark is an apostrophe.
        let may_begin = last.is_none_or(|last| "[{,:\"'".contains(last));
        let (first, behind) = rest.split_at(character.len_utf8());
        mended.push_str(first);
        rest = behind;
        if !character.is_whitespace() {
            last = Some(character);
        }
        if may_begin && matches!(character, '"' | '\'') {
            let end = if character == '"' { end_of_quotes(rest) } else { rest.find('\'') };
            let (inside, behind) = rest.split_at(end.unwrap_or(rest.len()));
            if character == '"' {
                write_mended(inside, &mut mended);
            } else {
                mended.push_str(inside);
            }
            // The mark at the end begins nothing.
            let mark = behind.len().min(1);
            mended.push_str(&behind[..mark]);
            rest = &behind[mark..];
        }
    }
    Cow::Owned(mended)
}

/// Writes a JSON text or a text of YAML's double quotes with numbers for the escapes that [`mended`] takes for letters.
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

/// Where the double quotes are closed.
fn end_of_quotes(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        closes
    })
}

/// Writes what stands between double quotes.
fn write_mended(inside: &str, mended: &mut String) {
    let is_letter = |rest: &str| !is_meant(rest) || rest.starts_with(['n', 't', 'r']);
    let has_letters = escapes(inside).any(|rest| !is_meant(rest));
    let mut done = 0;
    for rest in escapes(inside).filter(|rest| has_letters && is_letter(rest)) {
        let at = inside.len() - rest.len();
        mended.push_str(&inside[done..at]);
        mended.push('\\');
        done = at;
    }
    mended.push_str(&inside[done..]);
}

/// What stands behind each backslash that may begin an escape.
fn escapes(inside: &str) -> impl Iterator<Item = &str> {
    let mut rest = inside;
    std::iter::from_fn(move || {
        let behind = &rest[rest.find('\\')? + 1..];
        let escaped = behind.chars().next().filter(|one| is_meant(behind) || *one == '\\');
        rest = &behind[escaped.map_or(0, char::len_utf8)..];
        Some(behind)
    })
}

/// Tells whether what stands behind a backslash makes an escape of it.
fn is_meant(rest: &str) -> bool {
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
