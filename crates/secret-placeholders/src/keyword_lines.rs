//! The lines of a text that have a keyword, found by vector instructions.
//!
//! An automaton looks at each byte in turn; most lines have no keyword, and this search passes over them many bytes at a
//! time.

use std::ops::Range;

use aho_corasick::packed::{Config, Searcher};

/// Keywords that are shorter are looked for apart: the search compares as many bytes at first as the shortest has.
const LONG_BYTES: usize = 4;

/// The most keywords of one search.
const MOST_KEYWORDS: usize = 64;

/// Finds lines with any of some keywords, whatever their case.
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

    /// Returns the lines with their ends, as ranges of bytes, in order.
    pub(crate) fn of_text(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let lower = text.to_ascii_lowercase();
        // The next keyword of each search; the first ones come with the first line.
        let mut next: Vec<Option<usize>> = vec![Some(0); self.searchers.len()];
        let mut end = 0;
        let mut is_first = true;
        std::iter::from_fn(move || {
            let bytes = lower.as_bytes();
            for (next, searcher) in next.iter_mut().zip(&self.searchers) {
                if is_first || next.is_some_and(|at| at < end) {
                    *next = searcher.find_in(bytes, (end..bytes.len()).into()).map(|keyword| keyword.start());
                }
            }
            is_first = false;
            let at = next.iter().flatten().min().copied()?;
            let start = memchr::memrchr(b'\n', &bytes[end..at]).map_or(end, |newline| end + newline + 1);
            end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |newline| at + newline + 1);
            Some(start..end)
        })
    }
}
