//! The end of a value after its name.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::field::Form;

/// The characters that quote a value.
pub(super) const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The characters that end an unquoted value next to other text.
const ENDS: [char; 8] = [';', ',', '&', '"', '\'', '`', '<', ')'];

/// The beginning of the next of several values: `;name=`.
const NEXT_PARAMETER: &str = r"^[;,&] ?[A-Za-z][A-Za-z_. -]*=";

/// The beginning of a connection string, up to one of its parameters.
const CONNECTION: &str = r#"(?ix) (?: ^ | ["'`=:\s] )
    (?: server | host | hostname | data\ source | addr | address | endpoint | driver | provider | dsn | database | initial\ catalog
      | user | username | user\ id | uid ) \s* = [^;"'`]* ;
    (?: [A-Za-z][A-Za-z_.\ -]* = [^;"'`]* ; )* \s* $"#;

/// The maximum length of that beginning.
const MOST_CONNECTION_BYTES: usize = 256;

/// Checks whether a text ends within a connection string, where a value extends to the next semicolon.
pub(super) fn is_connection(before: &str) -> bool {
    static BEFORE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(CONNECTION).expect("the expression is valid"));
    let from = before.ceil_char_boundary(before.len().saturating_sub(MOST_CONNECTION_BYTES));
    before.ends_with(';') && BEFORE.is_match(&before[from..])
}

/// Returns the end of such a value.
pub(super) fn of_connection(text: &str, looked_at: &mut usize) -> Option<usize> {
    let ends = |c: char| c == ';' || c == '<' || c.is_whitespace() || QUOTES.contains(&c);
    let end = text.find(ends).unwrap_or(text.len());
    *looked_at += end;
    // Before a closing quote in code and data, a backslash belongs to the quote.
    let end = text[..end].trim_end_matches('\\').len();
    (end > 0).then_some(end)
}

/// Returns the end of a value in an assignment that is quoted as a whole, with `escapes` backslashes before the quotes:
/// at a space, or at another parameter unless it is the only one. `None` if there is no end, or a tag follows.
pub(super) fn assigned(
    text: &str,
    quote: (char, usize),
    is_only: bool,
    looked_at: &mut usize,
) -> Option<usize> {
    static NEXT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(NEXT_PARAMETER).expect("the expression is valid"));
    let closing = closing(text, 0, quote);
    *looked_at += closing.unwrap_or(text.len());
    let value = &text[..closing? - quote.1];
    let ends = |(at, c): &(usize, char)| {
        let is_between = !is_only && matches!(c, ';' | ',' | '&');
        c.is_whitespace() || is_between && NEXT.is_match(&value[*at..])
    };
    let end = value.char_indices().find(ends).map_or(value.len(), |(at, _)| at);
    // A line end within a string of code.
    let mut value = &value[..end];
    while let Some(rest) = [r"\n", r"\r", r"\t"].iter().find_map(|escape| value.strip_suffix(escape)) {
        value = rest;
    }
    (!value.starts_with('<')).then_some(value.len())
}

/// Returns the position of the quote that closes a text which begins at `start`; both quotes have `escapes` backslashes
/// before them.
fn closing(text: &str, start: usize, (quote, escapes): (char, usize)) -> Option<usize> {
    let bytes = text.as_bytes();
    let backslashes = |at: usize| bytes[start..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    let closes = |at: &usize| backslashes(*at) % (2 * (escapes + 1)) == escapes;
    let mut doubled = 0;
    memchr::memchr_iter(quote as u8, &bytes[start..]).map(|at| start + at).filter(closes).find(|at| {
        // YAML and SQL double a quote within a text.
        let is_doubled = bytes.get(at + 1) == Some(&(quote as u8)) && *at > start && escapes == 0;
        let is_second = doubled > 0 && doubled + 1 == *at;
        doubled = if is_doubled && !is_second { *at } else { 0 };
        !is_second && !is_doubled
    })
}

/// Returns the range between the quotes at the start of a text. Both have the same number of backslashes before them:
/// JSON within a JSON string has one, and escapes its own quotes with three.
pub(super) fn quoted(text: &str, looked_at: &mut usize) -> Option<Range<usize>> {
    let escapes = text.len() - text.trim_start_matches('\\').len();
    let quote = text[escapes..].chars().next().filter(|c| QUOTES.contains(c))?;
    let start = escapes + 1;
    let triple = [quote; 3].iter().collect::<String>();
    if let Some(rest) = text.strip_prefix(&triple) {
        let end = rest.find(&triple);
        *looked_at += end.unwrap_or(rest.len());
        if let Some(end) = end {
            return Some(triple.len()..triple.len() + end);
        }
    }
    let bytes = text.as_bytes();
    let closings = || memchr::memchr_iter(quote as u8, &bytes[start..]).map(|at| start + at);
    let closing = closing(text, start, (quote, escapes));
    *looked_at += closing.unwrap_or(text.len());
    // Where a backslash does not escape, it may be the last byte of the value.
    let end = closing.map(|at| at - escapes).or_else(|| closings().rfind(|at| *at >= start + escapes))?;
    // A command substitution in a shell or Perl.
    let is_command = quote == '`' && text[start..end].contains(char::is_whitespace);
    (!is_command).then_some(start..end)
}

/// Returns the range of the text of an XML element whose name or attribute is the value's name; `None` without a
/// matching closing tag.
pub(super) fn of_element(
    before: &str,
    name: &str,
    between: &str,
    rest: &str,
    looked_at: &mut usize,
) -> Option<Range<usize>> {
    let end = rest.find('<')?;
    *looked_at += end;
    let closing_tag = rest[end..].strip_prefix("</").or_else(|| rest[end..].strip_prefix(r"<\/"))?;
    let is_closed = if between.contains(QUOTES) {
        // A name attribute: `<property name="password">`.
        let attribute = before
            .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'));
        let attribute = attribute.strip_suffix(QUOTES).map_or("", |before| before.trim_end_matches('\\'));
        before.contains('<') && [" name=", " key="].iter().any(|name| attribute.ends_with(name))
    } else if between.contains('<') {
        before.ends_with('>') || before.contains("<key>")
    } else {
        let tag = &before[before.rfind('<')? + 1..];
        let is_of_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        tag.chars().all(is_of_tag)
            && closing_tag
                .strip_prefix(tag)
                .and_then(|closing_tag| closing_tag.strip_prefix(name))
                .is_some_and(|end| !end.starts_with(is_of_tag))
    };
    let end = rest[..end].trim_end().len();
    (is_closed && end > 0).then_some(0..end)
}

/// Returns the range of an unquoted value at the start of a text.
pub(super) fn bare(
    text: &str,
    is_settings: bool,
    is_joined: bool,
    is_parameter: bool,
    allows: impl Fn(char) -> bool,
    looked_at: &mut usize,
) -> Option<(Range<usize>, Form)> {
    // The end of the word may be far after that of the value, so search for it only where there are few words: a
    // settings line has one value, and the separator before a value that is not joined has spaces around it.
    if is_settings || !is_joined {
        let word = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
        *looked_at += word.len();
        if !is_joined && ["('", "(\""].iter().any(|call| word.contains(call)) {
            return None;
        }
        let rest = if is_settings { text[word.len()..].trim_start() } else { text };
        // A list in code has a comma after each value, which then is an expression.
        let is_of_code = |c: char| {
            let has = |set: &str| set.contains(c);
            c.is_ascii_alphanumeric() || has("_.") || !is_joined && has(":()[]<>&*\"'")
        };
        let is_of_list = || word.strip_suffix([',', ';']).is_some_and(|value| value.chars().all(is_of_code));
        let is_alone = is_settings && (rest.is_empty() || rest.starts_with('#'));
        if is_alone && !is_of_list() && (is_joined || word.chars().all(&allows)) {
            return (!word.is_empty()).then_some((0..word.len(), Form::Line { is_joined }));
        }
    }
    let ends = |c: char| c.is_whitespace() || ENDS.contains(&c) || !allows(c);
    let end = text.find(ends).unwrap_or(text.len());
    *looked_at += end;
    let is_called = text[end..].starts_with(['(', '[']) && !text[..end].ends_with('=');
    if is_called {
        return None;
    }
    let mut value = text[..end].trim_end_matches(['.', ':', '\\']);
    // The end of the list that contains the field.
    for (open, close) in [('{', '}'), ('[', ']')] {
        value = if value.contains(open) { value } else { value.trim_end_matches(close) };
    }
    (!value.is_empty()).then_some((0..value.len(), Form::Inline { is_parameter }))
}
