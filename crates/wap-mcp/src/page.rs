//! The length limit of an answer, which clients pass on to a model.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// The limit on the characters of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(Option<NonZeroUsize>);

impl PageLimit {
    /// About 20,000 tokens, below the limit of common clients.
    pub const DEFAULT_CHARACTERS: usize = 60_000;

    /// Returns the characters for content; headers and hints come on top.
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

    /// Parses a number of characters; 0 means unlimited.
    fn from_str(text: &str) -> Result<PageLimit, String> {
        let characters: usize =
            text.parse().map_err(|_| "give a number of characters, or 0 for no limit".to_owned())?;
        if (1..1_000).contains(&characters) {
            return Err("a page has at least 1000 characters".to_owned());
        }
        Ok(PageLimit(NonZeroUsize::new(characters)))
    }
}

/// Returns the whole lines from the start of a text that fit, and how many they are. A first line that alone does not fit
/// is cut at a character and counts as one.
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

/// Returns the whole lines from the end of a text that fit; of a last line that alone does not fit, its end.
pub(crate) fn tail(text: &str, characters: usize) -> &str {
    if text.len() <= characters {
        return text;
    }
    let Some(before) = characters.checked_sub(1) else { return "" };
    let Some((start, _)) = text.char_indices().rev().nth(before) else { return text };
    let is_line_start = start == 0 || text.as_bytes()[start - 1] == b'\n';
    match text[start..].find('\n') {
        _ if is_line_start => &text[start..],
        Some(newline) if start + newline + 1 < text.len() => &text[start + newline + 1..],
        _ => &text[start..],
    }
}

/// Counts the lines of a text; a last line without a line ending counts too.
pub(crate) fn line_count(text: &str) -> u64 {
    // Pieces so short that their count fits a byte: the compiler then vectorizes the loop.
    let pieces = text.as_bytes().chunks(usize::from(u8::MAX));
    let endings: u64 =
        pieces.map(|piece| u64::from(piece.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum();
    endings + u64::from(!text.is_empty() && !text.ends_with('\n'))
}
