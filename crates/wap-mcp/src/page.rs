//! The part of an answer that fits into the limit of clients for one message to a model.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// The most characters of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(Option<NonZeroUsize>);

impl PageLimit {
    /// The default, below the limit at which common clients truncate: about 20,000 tokens.
    pub const DEFAULT_CHARACTERS: usize = 60_000;

    /// Returns the number of characters for content, which leaves some for headers and hints.
    pub fn characters(self) -> usize {
        self.0.map_or(usize::MAX, NonZeroUsize::get)
    }
}

impl Default for PageLimit {
    fn default() -> PageLimit {
        PageLimit(NonZeroUsize::new(PageLimit::DEFAULT_CHARACTERS))
    }
}

impl FromStr for PageLimit {
    type Err = String;

    /// Reads a number of characters; 0 removes the limit.
    fn from_str(text: &str) -> Result<PageLimit, String> {
        let characters: usize =
            text.parse().map_err(|_| "give a number of characters, 0 for no limit".to_owned())?;
        if (1..1_000).contains(&characters) {
            return Err("a page has at least 1000 characters".to_owned());
        }
        Ok(PageLimit(NonZeroUsize::new(characters)))
    }
}

/// Returns the whole lines from the start of a text that fit, and their number. A first line that does not fit by itself is
/// truncated at a character and counts as one.
pub(crate) fn head(text: &str, characters: usize) -> (&str, u64) {
    // A character has at least one byte.
    if text.len() <= characters {
        return (text, line_count(text));
    }
    let Some(end) = text.char_indices().nth(characters).map(|(index, _)| index) else {
        return (text, line_count(text));
    };
    match text[..end].rfind('\n') {
        Some(newline) => (&text[..=newline], line_count(&text[..=newline])),
        None => (&text[..end], 1),
    }
}

/// Returns the [`head`] of a text whose lines will be prefixed with their numbers, beginning with `first`.
pub(crate) fn numbered_head(text: &str, first: u64, characters: usize) -> (&str, u64) {
    let (page, lines) = head(text, characters);
    // The width of the last number that may be shown; a shorter page has narrower ones at most.
    let width = first.saturating_add(lines).to_string().len() + 1;
    // A character has at least one byte.
    let numbers = usize::try_from(lines).unwrap_or(usize::MAX).saturating_mul(width);
    if page.len().saturating_add(numbers) <= characters {
        return (page, lines);
    }
    let (mut end, mut count, mut left) = (0, 0, characters);
    for line in page.split_inclusive('\n') {
        let needed = line.chars().count() + width;
        if needed > left {
            break;
        }
        left -= needed;
        end += line.len();
        count += 1;
    }
    // The start of a line that is too long by itself; its number exceeds the limit.
    if count == 0 {
        head(page.split_inclusive('\n').next().unwrap_or(page), characters)
    } else {
        (&page[..end], count)
    }
}

/// Returns the whole lines from the end of a text that fit; if the last line does not fit by itself, its end.
pub(crate) fn tail(text: &str, characters: usize) -> &str {
    if text.len() <= characters {
        return text;
    }
    // Count from the end: the start of an output may be megabytes away.
    let Some(before) = characters.checked_sub(1) else { return "" };
    let Some((start, _)) = text.char_indices().rev().nth(before) else { return text };
    let is_line_start = start == 0 || text.as_bytes()[start - 1] == b'\n';
    match text[start..].find('\n') {
        _ if is_line_start => &text[start..],
        Some(newline) if start + newline + 1 < text.len() => &text[start + newline + 1..],
        _ => &text[start..],
    }
}

/// Counts the lines of a text; text after the last line ending is one more.
pub(crate) fn line_count(text: &str) -> u64 {
    let endings = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    endings + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::numbered_head;

    #[test]
    fn a_page_holds_the_numbers_of_its_lines_too() {
        let text = "12345\n".repeat(20);
        // Each line has eight characters with its number and bar, so that five fit but not six.
        let (page, lines) = numbered_head(&text, 1, 40);
        assert_eq!((page.len(), lines), (30, 5));
        assert_eq!(numbered_head("a\nb", 1, 40), ("a\nb", 2));
        assert_eq!(numbered_head("", 1, 40), ("", 0));
        // A line that is too long by itself is truncated.
        assert_eq!(numbered_head("12345678\nb\n", 1, 5), ("12345", 1));
    }
}
