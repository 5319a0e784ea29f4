//! Numbered views: lines of a file as a model sees them, `12|    return x`.

use std::fmt::Write as _;

use memchr::memchr_iter;

/// Prefixes every line of a text with its number and a bar; the first line has the number `first`.
///
/// Numbers are right-aligned to the widest of them. Lines end at LF; everything else stays as it is.
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
    let newlines = memchr_iter(b'\n', text.as_bytes());
    let count = newlines.clone().count() + usize::from(!text.is_empty() && !text.ends_with('\n'));
    let last = first.saturating_add((count as u64).saturating_sub(1));
    let mut label = Label::new(first, last);
    view.reserve(text.len() + (label.width + 1) * count);
    let mut start = 0;
    for end in newlines.map(|newline| newline + 1).chain([text.len()]) {
        if start < end {
            label.push(view);
            view.push_str(&text[start..end]);
            label.increment();
        }
        start = end;
    }
}

/// The number of a line and its bar. Formatting a number takes longer than copying the line, so only every tenth is formatted.
struct Label {
    /// The digits before the last one, padded with spaces.
    tens: String,
    number: u64,
    width: usize,
}

impl Label {
    /// Returns the label of the line `first`, as wide as that of `last`.
    fn new(first: u64, last: u64) -> Label {
        let mut label = Label { tens: String::new(), number: first, width: last.to_string().len() };
        label.write_tens();
        label
    }

    fn push(&self, view: &mut String) {
        const LAST_DIGITS: [&str; 10] = ["0|", "1|", "2|", "3|", "4|", "5|", "6|", "7|", "8|", "9|"];
        view.push_str(&self.tens);
        view.push_str(LAST_DIGITS[(self.number % 10) as usize]);
    }

    fn increment(&mut self) {
        self.number = self.number.saturating_add(1);
        if self.number.is_multiple_of(10) {
            self.write_tens();
        }
    }

    fn write_tens(&mut self) {
        self.tens.clear();
        let width = self.width - 1;
        let _ = match self.number / 10 {
            0 => write!(self.tens, "{:width$}", ""),
            tens => write!(self.tens, "{tens:>width$}"),
        };
    }
}

/// Strips the numbers from a view; returns the number of the first line, and the text.
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

/// Splits a line of a view into its number and the line; `None` for other lines.
#[must_use]
pub fn numbered_line(line: &str) -> Option<(u64, &str)> {
    let (number, rest) = line.split_once('|')?;
    let number = number.trim_start_matches(' ');
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, rest))
}
