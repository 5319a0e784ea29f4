//! The matches of a query's terms in a text.

use memchr::memmem;

use crate::lines::Lines;
use crate::search::query::Term;
use crate::words;

/// The most terms of a query, one bit each; the rest is ignored.
const MOST_TERMS: usize = 32;
/// The most matches of one term that are counted.
const MOST_MATCHES: usize = 2_000;
/// The most candidates that are checked for one term.
const MOST_CANDIDATES: usize = 10_000;
/// The number of lines at the beginning of a file, which usually describe its purpose.
const HEAD: usize = 30;

/// A set of terms, one bit each.
pub(crate) type Mask = u32;

/// The matches of the terms in one text.
pub(crate) struct Matches<'t> {
    terms: &'t [Term],
    total: f64,
    /// 1-based lines with their terms, ordered; each term once per line.
    pub(crate) matches: Vec<(usize, Mask)>,
    /// The number of matches of each term.
    counts: Vec<usize>,
}

impl<'t> Matches<'t> {
    /// Finds whole words: `error` matches in `parse_error` and in `errors`, but not in `erroneous`.
    pub(crate) fn find(lines: &Lines<'_>, text: &[u8], terms: &'t [Term]) -> Matches<'t> {
        let terms = &terms[..terms.len().min(MOST_TERMS)];
        let folded = text.to_ascii_lowercase();
        let mut matches = Vec::new();
        let mut counts = Vec::with_capacity(terms.len());
        for (index, term) in terms.iter().enumerate() {
            let (mut line, mut count) = (0, 0);
            let candidates = memmem::find_iter(&folded, term.needle()).take(MOST_CANDIDATES);
            for at in candidates.filter(|at| words::begins_at(text, *at, &term.word)).take(MOST_MATCHES) {
                line = lines.line_of(at, line);
                count += 1;
                if matches.last() != Some(&(line, 1 << index)) {
                    matches.push((line, 1 << index));
                }
            }
            counts.push(count);
        }
        matches.sort_unstable();
        let total = terms.iter().map(|term| term.weight).sum::<f64>().max(f64::MIN_POSITIVE);
        Matches { terms, total, matches, counts }
    }

    /// Returns the weight of some terms as a share of the whole query, 0 to 1.
    pub(crate) fn worth(&self, mask: Mask) -> f64 {
        let chosen = self.terms.iter().enumerate().filter(|(index, _)| mask & (1 << index) != 0);
        chosen.map(|(_, term)| term.weight).sum::<f64>() / self.total
    }

    /// Returns the bit of a word, if it is a term.
    pub(crate) fn bit(&self, word: &str) -> Option<Mask> {
        self.terms.iter().position(|term| term.word == word).map(|index| 1 << index)
    }

    /// Returns true if one of the terms is a whole name of several parts.
    pub(crate) fn has_whole(&self, mask: Mask) -> bool {
        self.terms.iter().enumerate().any(|(index, term)| mask & (1 << index) != 0 && term.is_whole)
    }

    /// Returns the share of the query that occurs at the beginning of the file, 0 to 1.
    pub(crate) fn in_head(&self) -> f64 {
        let head = self.matches.iter().take_while(|(line, _)| *line <= HEAD);
        self.worth(head.fold(0, |mask, (_, bit)| mask | bit))
    }

    /// Returns the sum of the terms' weights times the logarithm of their counts. Unlike BM25 it has no upper bound: of two files
    /// with a term, the one with ten times as many matches is the one about it.
    pub(crate) fn amount(&self) -> f64 {
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let amounts = self.terms.iter().zip(&self.counts);
        amounts.map(|(term, times)| term.weight * (1.7 * count(*times)).ln_1p()).sum::<f64>() / self.total
    }
}
