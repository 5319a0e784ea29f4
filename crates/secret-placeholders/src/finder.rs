//! Finding values that have a placeholder wherever they stand.

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{AhoCorasick, Anchored, MatchKind};

use crate::detector::Span;

/// Finds every occurrence of some values, those that overlap too: a model that chooses what stands beside a value must not
/// have a part of it hidden as another value and the rest shown.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Finds the first occurrence, and passes fast over a text without any.
    first: AhoCorasick,
    /// Knows at each byte the longest value that ends there.
    ends: NFA,
    kinds: Vec<String>,
}

impl Finder {
    /// Returns the search for values, each with the kind of its placeholder; `None` if there are too many.
    pub(crate) fn new<'v>(values: impl Iterator<Item = (&'v [u8], String)>) -> Option<Finder> {
        let (values, kinds): (Vec<&[u8]>, Vec<String>) = values.unzip();
        let first = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&values).ok()?;
        let ends = NFA::builder().match_kind(MatchKind::Standard).build(&values).ok()?;
        Some(Finder { first, ends, kinds })
    }

    /// Adds the occurrences in a text; those that overlap are one. The time is linear in the length of the text.
    pub(crate) fn find(&self, text: &str, hits: &mut Vec<Span>) {
        let Some(first) = self.first.find(text) else { return };
        let unanchored = "the automaton was built for unanchored searches";
        let mut state = self.ends.start_state(Anchored::No).expect(unanchored);
        let mut joined: Vec<Occurrence> = Vec::new();
        for (at, byte) in text.bytes().enumerate().skip(first.start()) {
            state = self.ends.next_state(Anchored::No, state, byte);
            if !self.ends.is_special(state) || !self.ends.is_match(state) {
                continue;
            }
            // The patterns of a state end at the same byte, and the first of them is the longest.
            let pattern = self.ends.match_pattern(state, 0);
            let bytes = self.ends.pattern_len(pattern);
            let mut hit =
                Occurrence { start: at + 1 - bytes, end: at + 1, bytes, pattern: pattern.as_usize() };
            // Joined at once, so that there are no more of them than bytes however many values overlap.
            while let Some(last) = joined.pop_if(|last| last.end > hit.start) {
                hit.start = hit.start.min(last.start);
                if last.bytes > hit.bytes {
                    (hit.bytes, hit.pattern) = (last.bytes, last.pattern);
                }
            }
            joined.push(hit);
        }
        let span = |Occurrence { start, end, pattern, .. }| Span {
            range: start..end,
            kind: self.kinds[pattern].clone().into(),
        };
        hits.extend(joined.into_iter().map(span));
    }
}

/// A part of a text in which values overlap; the kind is that of the longest.
struct Occurrence {
    start: usize,
    end: usize,
    /// The length of the longest value, and its number.
    bytes: usize,
    pattern: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_of_every_occurrence_is_in_a_span(
            values in prop::collection::btree_set("[ab]{1,5}", 1..8),
            text in "[abc]{0,40}",
        ) {
            let mut hidden = vec![false; text.len()];
            for value in &values {
                for start in (0..text.len()).filter(|start| text[*start..].starts_with(value)) {
                    hidden[start..start + value.len()].fill(true);
                }
            }
            let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), value.clone()))).unwrap();
            let mut spans = Vec::new();
            finder.find(&text, &mut spans);
            let mut by_spans = vec![false; text.len()];
            let mut end = 0;
            for Span { range, kind } in spans {
                prop_assert!(range.start >= end, "in order and apart");
                end = range.end;
                prop_assert!(text[range.clone()].contains(&*kind));
                by_spans[range].fill(true);
            }
            prop_assert_eq!(by_spans, hidden);
        }
    }
}
