//! Numbered views: lines of a file as a model sees them, `12|    return x`.

use memchr::memchr_iter;

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
    let mut view = String::new();
    push_numbered_view(&mut view, text, first);
    view
}

/// Appends the [`numbered_view`] of a text to another text.
pub fn push_numbered_view(view: &mut String, text: &str, first: u64) {
    let bytes = text.as_bytes();
    let count = memchr_iter(b'\n', bytes).count() + usize::from(!text.is_empty() && !text.ends_with('\n'));
    let last = first.saturating_add((count as u64).saturating_sub(1));
    let mut label = Label::new(first, last);
    let mut written = std::mem::take(view).into_bytes();
    written.reserve(bytes.len() + label.bytes.len() * count);
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes).map(|newline| newline + 1).chain([bytes.len()]) {
        if start < end {
            written.extend_from_slice(&label.bytes);
            written.extend_from_slice(&bytes[start..end]);
            label.increment();
        }
        start = end;
    }
    *view = String::from_utf8(written).expect("lines are cut at line feeds, and numbers are ASCII");
}

/// The number of a line and its bar. Counted in its decimal digits: to format each number takes longer than to copy the line.
struct Label {
    bytes: Vec<u8>,
}

impl Label {
    /// Returns the label of the line `first`, as wide as that of `last`.
    fn new(first: u64, last: u64) -> Label {
        let width = last.to_string().len();
        Label { bytes: format!("{first:>width$}|").into_bytes() }
    }

    fn increment(&mut self) {
        for digit in self.bytes.iter_mut().rev().skip(1) {
            match *digit {
                b'9' => *digit = b'0',
                b' ' => {
                    *digit = b'1';
                    return;
                }
                _ => {
                    *digit += 1;
                    return;
                }
            }
        }
    }
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
