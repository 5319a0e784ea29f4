//! Lines within a quoted text: `"A=1\nDB_PASSWORD=…\nB=2"`.

/// The maximum number of bytes before a name that are searched for the beginning of its line.
const MOST_BEFORE_BYTES: usize = 256;

/// Characters that may follow the closing quote of a text.
const AFTER_TEXT: [char; 8] = [',', ';', ':', ')', '}', ']', '+', '.'];

/// Checks whether a word begins with the letter of an escape: `\nPASSWORD`. `end` is the start of the keyword in the
/// word.
pub(super) fn begins_escape(line: &str, start: usize, end: usize) -> bool {
    start < end && line[..start].ends_with('\\') && line[start..].starts_with(['n', 'r', 't'])
}

/// Returns the start of the line within a quoted text that contains a name, and its end after `value`; the whole line
/// if the name is not within a quoted text. Adds the bytes searched for the end to `looked_at`.
pub(super) fn line_in_text(line: &str, name: usize, value: usize, looked_at: &mut usize) -> (usize, usize) {
    let whole = (0, line.len());
    let from = line.ceil_char_boundary(name.saturating_sub(MOST_BEFORE_BYTES));
    let Some(start) = line_start(line, from, name) else { return whole };
    let level = backslashes(line, start - 1);
    let is_closed =
        |text: &str, offset: usize| text.char_indices().any(|(at, _)| closes(line, offset + at, level));
    if is_closed(&line[start..name], start) {
        return whole;
    }
    let ends =
        |at: &usize| closes(line, *at, level) || is_line_end(line, *at) && backslashes(line, *at) == level;
    let ending = line[value..].char_indices().map(|(at, _)| value + at).find(ends);
    let end = ending.map_or(line.len(), |at| at - backslashes(line, at));
    *looked_at += end.saturating_sub(value);
    (start + indent(&line[start..name], level), end)
}

/// Returns the length of the indentation at the start of a text: spaces, and tabs escaped with `level` backslashes.
fn indent(text: &str, level: usize) -> usize {
    let tab = r"\".repeat(level) + "t";
    let mut rest = text;
    while let Some(unindented) = rest.strip_prefix(' ').or_else(|| rest.strip_prefix(&tab)) {
        rest = unindented;
    }
    text.len() - rest.len()
}

/// Returns the position after the last escaped line end.
fn line_start(line: &str, from: usize, end: usize) -> Option<usize> {
    let is_end = |at: &usize| is_line_end(line, *at) && *at > from;
    memchr::memrchr2_iter(b'n', b'r', &line.as_bytes()[from..end])
        .map(|at| from + at)
        .find(is_end)
        .map(|at| at + 1)
}

/// Checks for the letter of an escape for a line end.
fn is_line_end(line: &str, at: usize) -> bool {
    matches!(line.as_bytes()[at], b'n' | b'r') && matches!(backslashes(line, at), 1 | 2 | 4)
}

/// Checks for the closing quote of a text whose escapes have `level` backslashes.
fn closes(line: &str, at: usize, level: usize) -> bool {
    let may_follow = |c: char| c.is_whitespace() || AFTER_TEXT.contains(&c);
    matches!(line.as_bytes()[at], b'"' | b'\'' | b'`')
        && backslashes(line, at) + 1 == level
        && (at + 1 == line.len() || line[at + 1..].starts_with(may_follow))
}

/// Returns the number of backslashes before a byte.
fn backslashes(line: &str, at: usize) -> usize {
    line.as_bytes()[..at].iter().rev().take(8).take_while(|byte| **byte == b'\\').count()
}
