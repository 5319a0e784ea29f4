//! The piece of a text that answers best.

use crate::lines::Lines;
use crate::outline::Definition;
use crate::search::matches::{Mask, Matches};
use crate::words;

/// How many lines a piece has at most.
const WINDOW: usize = 24;
/// Lines that are shown before the first line that matches.
const LEAD: usize = 2;

/// The best piece of a text, and what the text is worth by its pieces and definitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// 1-based, inclusive.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// How much of what was asked for stands together in one piece, 0 to 1.
    pub(crate) near: f64,
    /// How much of what was asked for is in names that are defined in the text, 0 to 1.
    pub(crate) defined: f64,
}

/// Finds the piece in which most of the words stand.
pub(crate) fn find(lines: &Lines<'_>, matches: &Matches<'_>, definitions: &[Definition]) -> Passage {
    let defining = Defining::of(definitions, matches);
    let defined = matches.worth(defining.mask);
    let mut places = matches.places.clone();
    if let Some(line) = defining.line {
        let at = places.partition_point(|(known, _)| *known < line);
        places.insert(at, (line, 0));
    }
    let mut window = Window::default();
    let (mut best, mut near): (Option<(f64, usize, usize)>, f64) = (None, 0.0);
    let (mut end, mut covered_words, mut covered) = (0, 0, 0.0);
    for (start, (first, mask)) in places.iter().enumerate() {
        while let Some((_, entering)) = places.get(end).filter(|(line, _)| *line < first + WINDOW - LEAD) {
            window.add(*entering);
            end += 1;
        }
        let last = places[end - 1].0;
        // Most steps change nothing about which words there are.
        if window.mask != covered_words {
            (covered_words, covered) = (window.mask, matches.worth(window.mask));
        }
        near = near.max(covered);
        let names = defining.line.is_some_and(|line| (*first..=last).contains(&line));
        // What is covered counts most, then what is defined, then how often.
        let often = f64::from(u32::try_from((end - start).min(20)).unwrap_or(20));
        let score = covered + if names { 0.5 * defining.worth } else { 0.0 } + 0.002 * often;
        if best.is_none_or(|(known, ..)| score > known) {
            best = Some((score, *first, last));
        }
        window.remove(*mask);
    }
    let Some((_, first, last)) = best else {
        return Passage { first: 1, last: lines.count().clamp(1, WINDOW / 2), near, defined };
    };
    let shown_first = first.saturating_sub(LEAD).max(1);
    let shown_last =
        (last + LEAD).max(shown_first + WINDOW / 2).min(shown_first + WINDOW - 1).min(lines.count());
    Passage { first: shown_first, last: shown_last.max(shown_first), near, defined }
}

/// How often each word stands in the lines that are looked at.
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

/// What definitions have of what is asked for.
struct Defining {
    /// All words that are in names.
    mask: Mask,
    /// Where the definition begins whose name says most of what is asked for, and little else.
    line: Option<usize>,
    /// What that is worth, 0 to 1.
    worth: f64,
}

impl Defining {
    fn of(definitions: &[Definition], matches: &Matches<'_>) -> Defining {
        let mut best = Defining { mask: 0, line: None, worth: 0.0 };
        let mut folded = String::new();
        for definition in definitions {
            let (mut mask, mut known, mut all) = (0, 0.0, 0.0);
            words::words_of_name(&definition.name, &mut folded, &mut |word| {
                all += 1.0;
                if let Some(bit) = matches.bit(word) {
                    mask |= bit;
                    known += 1.0;
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
            let worth = matches.worth(mask) * (0.5 + 0.5 * known / all) + if is_whole { 0.2 } else { 0.0 };
            if worth > best.worth {
                (best.line, best.worth) = (Some(definition.line_start as usize), worth);
            }
        }
        best.worth = best.worth.min(1.0);
        best
    }
}
