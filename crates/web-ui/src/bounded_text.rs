//! Texts that are cut so that no text stalls a browser.

use serde::Serialize;

/// The bounds of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextBounds {
    /// The most lines.
    pub lines: usize,
    /// The most characters of a line.
    pub line_characters: usize,
    /// The most bytes of the text, excluding notes about cut lines.
    pub bytes: usize,
}

impl TextBounds {
    /// The bounds of a difference.
    pub const DIFFERENCE: TextBounds = TextBounds { lines: 2_000, line_characters: 2_000, bytes: 256 * 1024 };

    /// The bounds of an output or an excerpt.
    pub const OUTPUT: TextBounds = TextBounds { lines: 1_000, line_characters: 2_000, bytes: 128 * 1024 };
}

/// The budget for the long texts of one answer. Later texts keep their beginnings.
#[derive(Debug)]
pub(crate) struct AnswerBudget {
    bytes_left: usize,
}

impl AnswerBudget {
    /// The bytes of all texts together, and the minimum for each.
    const BYTES: usize = 8 << 20;
    const LEAST_BYTES: usize = 2 * 1024;

    pub(crate) fn new() -> AnswerBudget {
        AnswerBudget { bytes_left: AnswerBudget::BYTES }
    }

    /// Returns a text within bounds and the remaining budget.
    pub(crate) fn take(&mut self, text: &str, bounds: TextBounds) -> BoundedText {
        let left = self.bytes_left.max(AnswerBudget::LEAST_BYTES);
        let taken = bounded(text, TextBounds { bytes: bounds.bytes.min(left), ..bounds });
        self.bytes_left = self.bytes_left.saturating_sub(taken.text.len());
        taken
    }
}

/// A text within bounds, with the amounts that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoundedText {
    /// The text. A cut line ends with the number of omitted characters.
    pub text: String,
    /// The number of lines left out at the end.
    pub lines_left_out: usize,
    /// The number of lines that were cut.
    pub lines_cut: usize,
}

/// Cuts a text at its end, and each overlong line at its own end.
///
/// # Example
///
/// ```
/// use web_ui::{TextBounds, bounded};
///
/// let bounds = TextBounds { lines: 1, line_characters: 4, bytes: 100 };
/// let cut = bounded("wonderful\nworld\n", bounds);
/// assert_eq!(cut.text, "wond… [5 more characters]\n");
/// assert_eq!((cut.lines_left_out, cut.lines_cut), (1, 1));
/// ```
#[must_use]
pub fn bounded(text: &str, bounds: TextBounds) -> BoundedText {
    let mut result = BoundedText::default();
    let mut lines = text.split_inclusive('\n');
    let mut taken = 0;
    while taken < bounds.lines {
        let Some(line) = lines.next() else { return result };
        let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
        let (kept, more) = cut(content, bounds.line_characters);
        if taken > 0 && result.text.len() + kept.len() > bounds.bytes {
            result.lines_left_out = 1 + lines.count();
            return result;
        }
        result.text.push_str(kept);
        if more > 0 {
            result.lines_cut += 1;
            result.text.push_str(&format!("… [{more} more characters]"));
        }
        result.text.push_str(end);
        taken += 1;
    }
    result.lines_left_out = lines.count();
    result
}

/// Returns the beginning of a line, and the number of remaining characters.
pub(crate) fn cut(line: &str, most_characters: usize) -> (&str, usize) {
    // Most lines are short, which their byte length shows.
    if line.len() <= most_characters {
        return (line, 0);
    }
    match line.char_indices().nth(most_characters) {
        Some((end, _)) => (&line[..end], line[end..].chars().count()),
        None => (line, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerBudget, TextBounds, bounded};

    #[test]
    fn the_texts_of_an_answer_are_bounded_together() {
        let text = "a line of an output\n".repeat(5_000);
        let alone = bounded(&text, TextBounds::OUTPUT);
        let mut budget = AnswerBudget::new();
        let texts: Vec<_> = (0..10_000).map(|_| budget.take(&text, TextBounds::OUTPUT)).collect();
        assert_eq!(texts[0], alone, "the control: there is room for the first ones");
        let bytes: usize = texts.iter().map(|text| text.text.len()).sum();
        assert!(bytes <= AnswerBudget::BYTES + texts.len() * AnswerBudget::LEAST_BYTES, "{bytes}");
        let last = texts.last().unwrap();
        let lines = last.text.lines().count();
        assert!(lines > 50 && last.lines_left_out == 5_000 - lines, "{last:?}");
    }
}
