//! Numbered views: lines of a file as a model sees them, `12|    return x`.

/// Writes the number and the bar in front of every line of a text, the first of which has the number `first`.
///
/// Numbers are aligned to the right with the widest of them. Lines end at LF; everything else stays as it is.
///
/// # Example
///
/// ```
/// use wap_core::{numbered_view, unnumbered};
///
/// let view = numbered_view("if x:\n    y()", 9);
/// assert_eq!(view, " 9|if x:\n10|    y()");
/// assert_eq!(unnumbered(&view), Some((9, "if x:\n    y()".to_owned())));
/// ```
///
/// Source: docs/tagproto.md, The outbox; docs/wap.md, Reading.
#[must_use]
pub fn numbered_view(text: &str, first: u64) -> String {
    let count = text.split_inclusive('\n').count() as u64;
    let width = first.saturating_add(count.saturating_sub(1)).to_string().len();
    let mut view = String::with_capacity(text.len() + (width + 1) * count as usize);
    for (line, number) in text.split_inclusive('\n').zip(first..) {
        view.push_str(&format!("{number:>width$}|"));
        view.push_str(line);
    }
    view
}

/// Takes the numbers off a view; returns the number of the first line, and the text.
///
/// `None` unless every line begins with a number and a bar, and the numbers are consecutive. An empty text is a view
/// without lines, whose first number is 1.
#[must_use]
pub fn unnumbered(view: &str) -> Option<(u64, String)> {
    let mut text = String::with_capacity(view.len());
    let mut first = None;
    for (index, line) in view.split_inclusive('\n').enumerate() {
        let (number, rest) = numbered_line(line)?;
        let first = *first.get_or_insert(number);
        if number.checked_sub(first)? != index as u64 {
            return None;
        }
        text.push_str(rest);
    }
    Some((first.unwrap_or(1), text))
}

/// Splits a line of a view into its number and the line; `None` for another line.
#[must_use]
pub fn numbered_line(line: &str) -> Option<(u64, &str)> {
    let (number, rest) = line.split_once('|')?;
    let number = number.trim_start_matches(' ');
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, rest))
}
