//! Where in a text the words of a search stand together.

use memchr::memmem;

use crate::lines::Lines;
use crate::outline::Definition;
use crate::query::Term;
use crate::words;

/// How many lines a piece has at most.
const WINDOW: usize = 24;
/// Lines that are shown before the first line that matches.
const LEAD: usize = 2;

/// The best piece of a text, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// 1-based, inclusive.
    pub(crate) first: usize,
    pub(crate) last: usize,
    /// How much of what was asked for stands in it, 0 to 1.
    pub(crate) coverage: f64,
    /// How much of what was asked for the best name that is defined in the text has, 0 to 1.
    pub(crate) defined: f64,
}

/// Finds the piece in which most of the words stand.
pub(crate) fn find(lines: &Lines<'_>, text: &[u8], terms: &[Term], definitions: &[Definition]) -> Passage {
    let mut matched: Vec<(usize, u32)> = Vec::new();
    let folded = text.to_ascii_lowercase();
    for (index, term) in terms.iter().enumerate().take(32) {
        // A stem that ends in `i` stands for a word that ends in `y` too.
        let needle = term.word.strip_suffix('i').filter(|rest| rest.len() >= 3).unwrap_or(&term.word);
        let mut line = 0;
        for at in
            memmem::find_iter(&folded, needle.as_bytes()).filter(|at| begins_word(text, *at)).take(2_000)
        {
            line = lines.line_of(at, line);
            if matched.last() != Some(&(line, 1 << index)) {
                matched.push((line, 1 << index));
            }
        }
    }
    let total: f64 = terms.iter().map(|term| term.weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let worth = |mask: u32| -> f64 {
        let found = terms.iter().enumerate().filter(|(index, _)| *index < 32 && mask & (1 << index) != 0);
        found.map(|(_, term)| term.weight).sum::<f64>() / total
    };
    let (defining, defined) = best_definition(definitions, terms, &worth);
    if let Some(definition) = defining {
        let first = definition.line_start as usize;
        matched.push((first, 0));
    }
    matched.sort_unstable();
    let mut best: Option<(f64, usize, usize)> = None;
    for (index, (first, _)) in matched.iter().enumerate() {
        let mut mask = 0;
        let mut count = 0.0;
        let mut last = *first;
        for (line, bits) in matched[index..].iter().take_while(|(line, _)| *line < first + WINDOW - LEAD) {
            mask |= bits;
            count += 1.0;
            last = *line;
        }
        let names = defining.is_some_and(|one| (*first..=last).contains(&(one.line_start as usize)));
        // What is defined counts most, then what is covered, then how often.
        let score = worth(mask) + if names { 0.5 * defined } else { 0.0 } + 0.002 * f64::min(count, 20.0);
        if best.is_none_or(|(known, ..)| score > known) {
            best = Some((score, *first, last));
        }
        if index > 4_000 {
            break;
        }
    }
    let all = matched.iter().fold(0, |mask, (_, bits)| mask | bits);
    let Some((_, first, last)) = best else {
        let last = lines.count().clamp(1, WINDOW / 2);
        return Passage { first: 1, last, coverage: 0.0, defined };
    };
    let near = matched
        .iter()
        .filter(|(line, _)| (first..=last).contains(line))
        .fold(0, |mask, (_, bits)| mask | bits);
    let shown_first = first.saturating_sub(LEAD).max(1);
    let shown_last =
        (last + LEAD).max(shown_first + WINDOW / 2).min(shown_first + WINDOW - 1).min(lines.count());
    let coverage = 0.7 * worth(near) + 0.3 * worth(all);
    Passage { first: shown_first, last: shown_last.max(shown_first), coverage, defined }
}

/// The definition whose name says most of what is asked for, and little else.
fn best_definition<'d>(
    definitions: &'d [Definition],
    terms: &[Term],
    worth: &impl Fn(u32) -> f64,
) -> (Option<&'d Definition>, f64) {
    let mut best = (None, 0.0);
    let mut folded = String::new();
    for definition in definitions {
        let (mut mask, mut known, mut all) = (0_u32, 0.0, 0.0);
        let mut is_whole = false;
        let mut count = |word: &str| {
            all += 1.0;
            if let Some(index) = terms.iter().take(32).position(|term| term.word == word) {
                mask |= 1 << index;
                known += 1.0;
                is_whole |= terms[index].is_whole;
            }
        };
        words::words_of_name(&definition.name, &mut folded, &mut count);
        if let Some(container) = &definition.container {
            let mut in_container = |word: &str| {
                if let Some(index) = terms.iter().take(32).position(|term| term.word == word) {
                    mask |= 1 << index;
                }
            };
            if known > 0.0 {
                words::words_of_name(container, &mut folded, &mut in_container);
            }
        }
        if known == 0.0 {
            continue;
        }
        let score = worth(mask) * (0.5 + 0.5 * known / f64::max(all, 1.0)) + if is_whole { 0.2 } else { 0.0 };
        if score > best.1 {
            best = (Some(definition), score);
        }
    }
    (best.0, f64::min(best.1, 1.0))
}

/// Whether a name, or a part of one, begins at a byte.
fn begins_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    let here = text[at];
    !before.is_ascii_alphabetic()
        || (here.is_ascii_uppercase() && before.is_ascii_lowercase())
        || (here.is_ascii_uppercase() && text.get(at + 1).is_some_and(u8::is_ascii_lowercase))
}
