//! The lines of a text that have a keyword, found by vector instructions.
//!
//! An automaton examines each byte in turn; most lines have no keyword, and this search skips them many bytes at a
//! time.

use std::ops::Range;

use aho_corasick::packed::{Config, Searcher};

/// Shorter keywords are searched for separately: the first comparison is as long as the shortest keyword.
const LONG_BYTES: usize = 4;

/// The maximum number of keywords of one search.
const MOST_KEYWORDS: usize = 64;

/// The usual size of the pieces in which a text is searched: a lower-case copy of a piece fits the processor's cache,
/// whereas copying a large text costs more than searching it.
const PIECE_BYTES: usize = 32 * 1024;

/// Finds lines with any of some keywords, case-insensitively.
#[derive(Debug)]
pub(crate) struct KeywordLines {
    searchers: Vec<Searcher>,
}

impl KeywordLines {
    /// Compiles keywords, which are in lower case and without line ends; `None` if this processor has no such instructions.
    pub(crate) fn of(keywords: &[String]) -> Option<KeywordLines> {
        // A keyword that contains another adds no line.
        let is_needed = |keyword: &&String| {
            !keywords.iter().any(|other| other != *keyword && keyword.contains(other.as_str()))
        };
        let (long, short): (Vec<&String>, Vec<&String>) =
            keywords.iter().filter(is_needed).partition(|keyword| keyword.len() >= LONG_BYTES);
        let groups = long.chunks(MOST_KEYWORDS).chain(short.chunks(MOST_KEYWORDS));
        let searchers: Option<Vec<Searcher>> = groups
            .map(|group| Config::new().builder().extend(group.iter().map(|word| word.as_bytes())).build())
            .collect();
        Some(KeywordLines { searchers: searchers? })
    }

    /// Calls `each` with the lines that have a keyword, as ranges of bytes with their ends, in order.
    pub(crate) fn each_of(&self, text: &str, mut each: impl FnMut(Range<usize>)) {
        let mut lower = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = piece_end(text.as_bytes(), start);
            lower.clear();
            lower.extend_from_slice(&text.as_bytes()[start..end]);
            lower.make_ascii_lowercase();
            self.each_of_piece(&lower, |line| each(start + line.start..start + line.end));
            start = end;
        }
    }

    /// Calls `each` with the lines of a text in lower case that have a keyword.
    fn each_of_piece(&self, bytes: &[u8], mut each: impl FnMut(Range<usize>)) {
        let find = |searcher: &Searcher, from: usize| {
            searcher.find_in(bytes, (from..bytes.len()).into()).map(|keyword| keyword.start())
        };
        // The next keyword of each search.
        let mut next: Vec<Option<usize>> = self.searchers.iter().map(|searcher| find(searcher, 0)).collect();
        while let Some(at) = next.iter().flatten().min().copied() {
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline + 1);
            each(start..end);
            for (next, searcher) in next.iter_mut().zip(&self.searchers) {
                if next.is_some_and(|at| at < end) {
                    *next = find(searcher, end);
                }
            }
        }
    }
}

/// Returns the end of a piece of a text that begins at `start`: after a line end, if possible not far beyond
/// [`PIECE_BYTES`].
fn piece_end(text: &[u8], start: usize) -> usize {
    let Some(most) = start.checked_add(PIECE_BYTES).filter(|most| *most < text.len()) else {
        return text.len();
    };
    let last = memchr::memrchr(b'\n', &text[start..most]).map(|newline| start + newline + 1);
    last.unwrap_or_else(|| {
        memchr::memchr(b'\n', &text[most..]).map_or(text.len(), |newline| most + newline + 1)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_found_wherever_a_text_is_cut(
            lines in prop::collection::vec(
                (prop_oneof![0..9_usize, 0..200_usize, 30_000..40_000_usize], any::<bool>()),
                0..40,
            ),
            ends in any::<bool>(),
        ) {
            let keywords = ["secret".to_owned(), "ghp_".to_owned(), "key".to_owned()];
            let Some(finder) = KeywordLines::of(&keywords) else { return Ok(()) };
            let mut text = String::new();
            let mut wanted = Vec::new();
            for (index, (width, has_keyword)) in lines.iter().enumerate() {
                let start = text.len();
                text.push_str(&"é-".repeat(*width / 3));
                if *has_keyword {
                    text.push_str(["SECRET", "ghP_", "Key"][index % 3]);
                }
                if ends || index + 1 < lines.len() {
                    text.push('\n');
                }
                if *has_keyword {
                    wanted.push(start..text.len());
                }
            }
            let mut lines = Vec::new();
            finder.each_of(&text, |line| lines.push(line));
            prop_assert_eq!(lines, wanted);
        }
    }
}
