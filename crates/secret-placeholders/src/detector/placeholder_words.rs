//! Texts with the words of a placeholder: a model writes them instead of a placeholder, so they are not values.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The words of a placeholder, and its kind.
const WORDS: &str = r"(?i)secrets?[^\w\s]{1,3}([a-z][a-z0-9-]{1,40})[^\w\s]{1,3}[0-9]{1,9}";

/// The longest such text, and the distance from a part of one within which its other words are.
const MOST_BYTES: usize = 80;

/// Checks whether a part of a text is in or between the words of a placeholder of one of some kinds.
pub(super) fn is_of_placeholder(text: &str, part: &Range<usize>, is_kind: &dyn Fn(&str) -> bool) -> bool {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(WORDS).expect("the expression is valid"));
    if part.len() > MOST_BYTES {
        return false;
    }
    let begin = text.floor_char_boundary(part.start.saturating_sub(MOST_BYTES));
    let end = text.ceil_char_boundary(text.len().min(part.end + MOST_BYTES));
    let is_separator = |c: char| !c.is_alphanumeric();
    let value = &text[part.clone()];
    let start = part.start + value.len() - value.trim_start_matches(is_separator).len();
    let words = start..start + value.trim_matches(is_separator).len();
    // A whole placeholder in data has a separate placeholder.
    !value.contains('⟦')
        && PATTERN.captures_iter(&text[begin..end]).any(|captures| {
            let range = captures.get_match().range();
            begin + range.start <= words.start && words.end <= begin + range.end && is_kind(&captures[1])
        })
}
