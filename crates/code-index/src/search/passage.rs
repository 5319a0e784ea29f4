//! The best passage of a text for a query.

use crate::lines::Lines;
use crate::outline::Definition;
use crate::search::matches::{Mask, Matches};
use crate::words;

/// The most lines of a passage.
const WINDOW: usize = 24;
/// The number of lines before the first matching line.
const LEAD: usize = 2;

/// The best passage of a text, and the text's scores by passages and definitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// 1-based, inclusive.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// The largest share of the query within one passage, 0 to 1.
    pub(crate) near: f64,
    /// The share of the query in names that the text defines, 0 to 1.
    pub(crate) defined: f64,
}

/// Finds the passage that covers most of the query.
pub(crate) fn find(lines: &Lines<'_>, matches: &Matches<'_>, definitions: &[Definition]) -> Passage {
    let defining = Defining::of(definitions, matches);
    let defined = matches.worth(defining.mask);
    let mut hits = matches.matches.clone();
    if let Some(line) = defining.line {
        let at = hits.partition_point(|(other, _)| *other < line);
        hits.insert(at, (line, 0));
    }
    let mut window = Window::default();
    let (mut best, mut near): (Option<(f64, usize, usize)>, f64) = (None, 0.0);
    let (mut end, mut covered_words, mut covered) = (0, 0, 0.0);
    for (start, (first, mask)) in hits.iter().enumerate() {
        while let Some((_, entering)) = hits.get(end).filter(|(line, _)| *line < first + WINDOW - LEAD) {
            window.add(*entering);
            end += 1;
        }
        let last = hits[end - 1].0;
        // Most steps do not change the set of terms, so its worth is cached.
        if window.mask != covered_words {
            (covered_words, covered) = (window.mask, matches.worth(window.mask));
        }
        near = near.max(covered);
        let names = defining.line.is_some_and(|line| (*first..=last).contains(&line));
        // The covered share counts most, then a definition, then the number of matches.
        let often = f64::from(u32::try_from((end - start).min(20)).unwrap_or(20));
        let score = covered + if names { 0.5 * defining.worth } else { 0.0 } + 0.002 * often;
        if best.is_none_or(|(highest, ..)| score > highest) {
            best = Some((score, *first, last));
        }
        window.remove(*mask);
    }
    // Without a match: the beginning of the file.
    let Some((_, first, last)) = best else {
        return Passage { first: 1, last: lines.count().clamp(1, WINDOW / 2), near, defined };
    };
    let first_line = first.saturating_sub(LEAD).max(1);
    let last_line =
        (last + LEAD).max(first_line + WINDOW / 2).min(first_line + WINDOW - 1).min(lines.count());
    Passage { first: first_line, last: last_line.max(first_line), near, defined }
}

/// The count of each term within a window of lines.
#[derive(Default)]
struct Window {
    counts: [u32; Mask::BITS as usize],
    mask: Mask,
}

impl Window {
    fn add(&mut self, mask: Mask) {
        if mask != 0 {
            self.counts[mask.trailing_zeros() as usize] += 1;
            self.mask |= mask;
        }
    }

    fn remove(&mut self, mask: Mask) {
        if mask != 0 {
            let count = &mut self.counts[mask.trailing_zeros() as usize];
            *count -= 1;
            if *count == 0 {
                self.mask &= !mask;
            }
        }
    }
}

/// The part of the query that definitions cover.
struct Defining {
    /// The terms that occur in names.
    mask: Mask,
    /// The first line of the definition whose name fits the query best.
    line: Option<usize>,
    /// The score of that definition, 0 to 1.
    worth: f64,
}

impl Defining {
    fn of(definitions: &[Definition], matches: &Matches<'_>) -> Defining {
        let mut best = Defining { mask: 0, line: None, worth: 0.0 };
        let mut folded = String::new();
        for definition in definitions {
            let (mut mask, mut matching, mut all) = (0, 0.0, 0.0);
            words::words_of_name(&definition.name, &mut folded, &mut |word| {
                all += 1.0;
                if let Some(bit) = matches.bit(word) {
                    mask |= bit;
                    matching += 1.0;
                }
            });
            if mask == 0 {
                continue;
            }
            best.mask |= mask;
            let is_whole = matches.has_whole(mask);
            if let Some(container) = &definition.container {
                words::words_of_name(container, &mut folded, &mut |word| {
                    mask |= matches.bit(word).unwrap_or(0);
                });
            }
            let worth = matches.worth(mask) * (0.5 + 0.5 * matching / all) + if is_whole { 0.2 } else { 0.0 };
            if worth > best.worth {
                (best.line, best.worth) = (Some(definition.line_start as usize), worth);
            }
        }
        best.worth = best.worth.min(1.0);
        best
    }
}
