//! Finding every occurrence of values that have a placeholder.

use std::collections::BTreeMap;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input, MatchKind};

use crate::detector::Span;

/// The leading bytes of a value that are in the automaton; the rest is compared. An automaton takes many times the
/// bytes of its patterns, and a file can make a model's reader find megabytes of values.
pub(crate) const HEAD_BYTES: usize = 128;

/// The number of bytes per comparison.
const AT_ONCE_BYTES: usize = 64;

/// The budget of comparisons: one for this many bytes of a text, plus a constant. A malicious text would need more.
/// Answers and streams are searched in hundreds of parts, so the constant has to be small.
const BYTES_PER_COMPARISON: usize = 4;
const COMPARISONS_AT_LEAST: usize = 4_096;

/// Finds every occurrence of some values, including overlapping ones: a model that controls the text around a value
/// must not be able to have part of it hidden as another value and the rest shown. Of a truncated long value, the
/// beginning is found.
#[derive(Debug)]
pub(crate) struct Finder {
    /// Determines the longest head that ends at each byte.
    heads: NFA,
    /// Indexed by the pattern in `heads`.
    values: Vec<Values>,
}

/// The values that begin with a head.
#[derive(Debug, Default)]
struct Values {
    kind: String,
    /// The bytes after the head, for longer values.
    rests: Vec<Box<[u8]>>,
}

impl Finder {
    /// Returns the search for values, each with the kind of its placeholder; `None` if there are too many.
    pub(crate) fn new<'v>(values: impl Iterator<Item = (&'v [u8], String)>) -> Option<Finder> {
        let mut by_head: BTreeMap<&[u8], Values> = BTreeMap::new();
        for (value, kind) in values {
            let (head, rest) = value.split_at(value.len().min(HEAD_BYTES));
            let values = by_head.entry(head).or_default();
            values.kind = kind;
            if !rest.is_empty() {
                values.rests.push(rest.into());
            }
        }
        let heads = NFA::builder().match_kind(MatchKind::Standard).build(by_head.keys()).ok()?;
        Some(Finder { heads, values: by_head.into_values().collect() })
    }

    /// Returns how many bytes at the end of a text are the beginning of a value. A beginning longer than [`HEAD_BYTES`]
    /// counts as an occurrence instead.
    pub(crate) fn beginning_at_end(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let begin = self.heads.start_state(Anchored::Yes).expect("the automaton has searches of both kinds");
        let is_beginning = |start: &usize| {
            let mut state = begin;
            bytes[*start..].iter().all(|byte| {
                state = self.heads.next_state(Anchored::Yes, state, *byte);
                !self.heads.is_dead(state)
            })
        };
        let first = bytes.len().saturating_sub(HEAD_BYTES);
        (first..bytes.len()).find(is_beginning).map_or(0, |start| bytes.len() - start)
    }

    /// Adds the occurrences in a text, overlapping ones merged. The time is linear in the length of the text.
    pub(crate) fn find(&self, text: &str, hits: &mut Vec<Span>) {
        self.find_counted(text, hits);
    }

    /// Adds the occurrences in a text, and returns the numbers of examined bytes and of comparisons.
    fn find_counted(&self, text: &str, hits: &mut Vec<Span>) -> (usize, usize) {
        let unanchored = "the automaton was built for unanchored searches";
        let bytes = text.as_bytes();
        let Some(first) = self.heads.try_find(&Input::new(text)).expect(unanchored) else {
            return (bytes.len(), 0);
        };
        let begin = self.heads.start_state(Anchored::No).expect(unanchored);
        let mut state = begin;
        let mut looked_at = 0;
        let most = COMPARISONS_AT_LEAST + text.len() / BYTES_PER_COMPARISON;
        let mut left = most;
        let mut joined: Vec<Occurrence> = Vec::new();
        // The occurrence that ends first need not begin first.
        let mut at = first.end().saturating_sub(HEAD_BYTES);
        while at < bytes.len() {
            state = self.heads.next_state(Anchored::No, state, bytes[at]);
            (at, looked_at) = (at + 1, looked_at + 1);
            if !self.heads.is_special(state) || !self.heads.is_match(state) {
                continue;
            }
            // All patterns of a state end at the same byte. The first is the longest, and only that can be part of a
            // value.
            let pattern = self.heads.match_pattern(state, 0);
            let start = at - self.heads.pattern_len(pattern);
            let pattern = pattern.as_usize();
            let end = match self.values[pattern].following(&bytes[at..], &mut left) {
                Some(following) => text.floor_char_boundary(at + following),
                None => {
                    // The rest of the line, once: no value contains a line end.
                    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
                    looked_at += end - at;
                    (state, at) = (begin, end);
                    end
                }
            };
            let mut hit = Occurrence { start, end, bytes: end - start, pattern };
            // Merged immediately, so that there are never more of them than bytes.
            while let Some(last) = joined.pop_if(|last| last.end > hit.start) {
                hit.start = hit.start.min(last.start);
                hit.end = hit.end.max(last.end);
                if last.bytes > hit.bytes {
                    (hit.bytes, hit.pattern) = (last.bytes, last.pattern);
                }
            }
            joined.push(hit);
        }
        let span = |Occurrence { start, end, pattern, .. }| Span {
            range: start..end,
            kind: self.values[pattern].kind.clone().into(),
        };
        hits.extend(joined.into_iter().map(span));
        (looked_at, most - left)
    }
}

impl Values {
    /// Returns how many bytes after a head match one of its values. `None` once the comparisons are used up: the rest
    /// of the line then counts as part of the value.
    fn following(&self, text: &[u8], left: &mut usize) -> Option<usize> {
        let mut most = 0;
        for rest in &self.rests {
            if *left == 0 {
                return None;
            }
            let agree = agreeing(rest, text);
            *left = left.saturating_sub(agree / AT_ONCE_BYTES + 1);
            most = most.max(agree);
        }
        Some(most)
    }
}

/// Returns the length of the common prefix of two texts.
fn agreeing(one: &[u8], other: &[u8]) -> usize {
    let parts = one.chunks_exact(AT_ONCE_BYTES).zip(other.chunks_exact(AT_ONCE_BYTES));
    let whole = AT_ONCE_BYTES * parts.take_while(|(one, other)| one == other).count();
    whole + one[whole..].iter().zip(&other[whole..]).take_while(|(one, other)| one == other).count()
}

/// A part of a text in which values overlap; the kind is that of the longest.
struct Occurrence {
    start: usize,
    end: usize,
    /// The length of the longest value, and the index of its pattern.
    bytes: usize,
    pattern: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hidden(text: &str, finder: &Finder) -> Vec<bool> {
        let mut spans = Vec::new();
        finder.find(text, &mut spans);
        let mut hidden = vec![false; text.len()];
        let mut end = 0;
        for Span { range, .. } in spans {
            assert!(range.start >= end && text.get(range.clone()).is_some(), "in order and apart");
            end = range.end;
            hidden[range].fill(true);
        }
        hidden
    }

    proptest! {
        #[test]
        fn every_byte_of_every_occurrence_is_in_a_span(
            values in prop::collection::btree_set("[ab]{1,5}", 1..8),
            text in "[abc]{0,40}",
        ) {
            let mut expected = vec![false; text.len()];
            for value in &values {
                for start in (0..text.len()).filter(|start| text[*start..].starts_with(value)) {
                    expected[start..start + value.len()].fill(true);
                }
            }
            let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), value.clone()))).unwrap();
            prop_assert_eq!(hidden(&text, &finder), expected);
        }

        #[test]
        fn long_values_are_found_whole_and_their_beginnings_too(
            head in "[a-z]{120,130}é?",
            rests in prop::collection::vec("[xyéz ]{0,40}", 1..4),
            cut in 0..40_usize,
            nearby in "[a-zé ]{0,9}",
        ) {
            let values: Vec<String> = rests.iter().map(|rest| format!("{head}{rest}")).collect();
            let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), String::new()))).unwrap();
            for value in &values {
                let text = format!("{nearby}{value}{nearby}");
                let is_hidden = hidden(&text, &finder);
                prop_assert!(is_hidden[nearby.len()..nearby.len() + value.len()].iter().all(|one| *one));
                let part = &value[..value.floor_char_boundary(value.len().saturating_sub(cut))];
                if part.len() > HEAD_BYTES + 2 {
                    prop_assert!(hidden(part, &finder).iter().all(|one| *one), "{part}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_beginning_at_the_end_is_the_longest(
            values in prop::collection::btree_set("[ab]{1,6}", 1..6),
            text in "[abc]{0,10}",
        ) {
            let is_beginning = |start: &usize| values.iter().any(|value| value.starts_with(&text[*start..]));
            let expected = (0..text.len()).find(is_beginning).map_or(0, |start| text.len() - start);
            let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), value.clone()))).unwrap();
            prop_assert_eq!(finder.beginning_at_end(&text), expected);
        }
    }

    #[test]
    fn long_values_take_little_memory() {
        let values: Vec<String> = (0..64).map(|number| format!("{number:03}").repeat(20_000)).collect();
        let memory = |values: &[String]| {
            let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), String::new()))).unwrap();
            finder.heads.memory_usage()
        };
        let of_long = memory(&values);
        assert!(of_long < 1 << 20, "{of_long}");
        // The control: whole values in an automaton take more than that each.
        let whole = NFA::builder().match_kind(MatchKind::Standard).build(&values[..2]).unwrap();
        assert!(whole.memory_usage() > 1 << 20, "{}", whole.memory_usage());
    }

    #[test]
    fn a_text_made_to_be_compared_often_is_hidden_in_linear_time() {
        let value = |number: usize| format!("{}{number}", "a".repeat(60_000));
        let values: Vec<String> = (0..60).map(value).collect();
        let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), String::new()))).unwrap();
        let text = format!("before\n{}\nb{}\nafter", "a".repeat(1 << 18), "a".repeat(1 << 12));
        let is_hidden = hidden(&text, &finder);
        assert!(is_hidden[7..7 + (1 << 18)].iter().all(|one| *one));
        // The following lines are still searched.
        assert!(!is_hidden[0] && !is_hidden[8 + (1 << 18)] && !is_hidden[text.len() - 1]);
        assert!(is_hidden[9 + (1 << 18)..][..1 << 12].iter().all(|one| *one));
        let (looked_at, compared) = finder.find_counted(&text, &mut Vec::new());
        assert!(looked_at <= text.len(), "{looked_at}");
        let most = COMPARISONS_AT_LEAST + text.len() / BYTES_PER_COMPARISON;
        assert!(compared <= most, "{compared}");
        // The control: without the limit, each possible beginning of a value takes a comparison of its whole length.
        let beginnings = (1 << 18) - HEAD_BYTES;
        assert!(beginnings * (60_000 / AT_ONCE_BYTES) > 1_000 * most);
    }

    #[test]
    fn a_text_in_many_parts_is_compared_about_as_often_as_in_one() {
        let values: Vec<String> = (0..60).map(|number| format!("{}{number}", "a".repeat(60_000))).collect();
        let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), String::new()))).unwrap();
        let text = format!("{}\n", "a".repeat(4_095)).repeat(256);
        for bytes in [4_096, 1 << 16, 1 << 20] {
            let parts = text.as_bytes().chunks(bytes).map(|part| str::from_utf8(part).unwrap());
            let compared: usize = parts.map(|part| finder.find_counted(part, &mut Vec::new()).1).sum();
            assert!(compared <= 2 * text.len(), "{bytes}: {compared}");
            // The control: it is a text that uses up the comparisons.
            assert!(compared >= text.len() / BYTES_PER_COMPARISON, "{bytes}: {compared}");
        }
    }

    #[test]
    fn a_long_value_is_found_whole_in_a_line_with_little_else() {
        let same: String = (0..4_000).map(|number| format!("{number:04}")).collect();
        let values: Vec<String> = (0..4).map(|number| format!("{same}{number}")).collect();
        let finder = Finder::new(values.iter().map(|value| (value.as_bytes(), String::new()))).unwrap();
        let text = format!("x={} y=1\n", values[2]);
        let is_hidden = hidden(&text, &finder);
        let visible: String = text
            .chars()
            .zip(is_hidden)
            .filter(|(_, is_hidden)| !is_hidden)
            .map(|(letter, _)| letter)
            .collect();
        assert_eq!(visible, "x= y=1\n");
    }
}
