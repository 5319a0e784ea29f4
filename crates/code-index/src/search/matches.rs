//! Where the words of a search stand in a text.

use memchr::memmem;

use crate::lines::Lines;
use crate::search::query::Term;
use crate::words;

/// Words of a search behind this many are passed over: each has a bit.
const MOST_TERMS: usize = 32;
/// So many places of one word tell as much as more of them.
const MOST_PLACES: usize = 2_000;
/// And so many places are looked at for it.
const MOST_LOOKED_AT: usize = 10_000;
/// Lines at the beginning of a file, where it says what it is about.
const HEAD: usize = 30;

/// Some of the words of a search, as bits in their order.
pub(crate) type Mask = u32;

/// The places of the words in one text.
pub(crate) struct Matches<'t> {
    terms: &'t [Term],
    total: f64,
    /// Lines, from 1, with the words on them; ordered, each word once a line.
    pub(crate) places: Vec<(usize, Mask)>,
    /// How often each word was met.
    counts: Vec<usize>,
}

impl<'t> Matches<'t> {
    /// Finds the words, whole: `error` is in `parse_error` and in `errors`, and not in `erroneous`.
    pub(crate) fn find(lines: &Lines<'_>, text: &[u8], terms: &'t [Term]) -> Matches<'t> {
        let terms = &terms[..terms.len().min(MOST_TERMS)];
        let folded = text.to_ascii_lowercase();
        let mut places = Vec::new();
        let mut counts = Vec::with_capacity(terms.len());
        for (index, term) in terms.iter().enumerate() {
            let (mut line, mut count) = (0, 0);
            let found = memmem::find_iter(&folded, term.needle()).take(MOST_LOOKED_AT);
            for at in found.filter(|at| words::stands_at(text, *at, &term.word)).take(MOST_PLACES) {
                line = lines.line_of(at, line);
                count += 1;
                if places.last() != Some(&(line, 1 << index)) {
                    places.push((line, 1 << index));
                }
            }
            counts.push(count);
        }
        places.sort_unstable();
        let total = terms.iter().map(|term| term.weight).sum::<f64>().max(f64::MIN_POSITIVE);
        Matches { terms, total, places, counts }
    }

    /// How much of what is asked for some words are, 0 to 1.
    pub(crate) fn worth(&self, mask: Mask) -> f64 {
        let asked = self.terms.iter().enumerate().filter(|(index, _)| mask & (1 << index) != 0);
        asked.map(|(_, term)| term.weight).sum::<f64>() / self.total
    }

    /// The bit of a word, if it is asked for.
    pub(crate) fn bit(&self, word: &str) -> Option<Mask> {
        self.terms.iter().position(|term| term.word == word).map(|index| 1 << index)
    }

    /// Whether one of the words is a name of several parts as a whole.
    pub(crate) fn has_whole(&self, mask: Mask) -> bool {
        self.terms.iter().enumerate().any(|(index, term)| mask & (1 << index) != 0 && term.is_whole)
    }

    /// How much of what is asked for stands at the beginning of the file, 0 to 1.
    pub(crate) fn in_head(&self) -> f64 {
        let head = self.places.iter().take_while(|(line, _)| *line <= HEAD);
        self.worth(head.fold(0, |mask, (_, bit)| mask | bit))
    }

    /// How much is said of what is asked for: the words with the logarithm of how often they stand there. It has no
    /// bound, unlike that of BM25: of two files that have a word, the one that has it ten times as often is about it.
    pub(crate) fn amount(&self) -> f64 {
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let amounts = self.terms.iter().zip(&self.counts);
        amounts.map(|(term, times)| term.weight * (1.7 * count(*times)).ln_1p()).sum::<f64>() / self.total
    }
}
