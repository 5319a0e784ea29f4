//! The text of a file, which determines the hidden parts of an answer about it.

use std::ops::Range;

use memchr::memmem;

use crate::surroundings::CUT;
use crate::{Marker, Secrets};

/// The maximum number of matches of a part of an answer that are examined in its file.
const MOST_MATCHES: usize = 10_000;

/// The maximum number of digits of the number of parameters in a name such as `login/2`.
const MOST_DIGITS: usize = 2;

/// A text with the placeholders of its hidden parts.
///
/// An answer of an index holds parts of a file: a line that was cut, a name, a signature on one line. No rule or map
/// recognises a part of a value, so each is searched for in the file.
#[derive(Debug)]
pub(super) struct FileText {
    text: String,
    /// Sorted and disjoint.
    hidden: Vec<(Range<usize>, String)>,
    /// The starts of the lines.
    lines: Vec<usize>,
}

impl FileText {
    /// Gives placeholders to the secrets of a text.
    pub(super) fn new(secrets: &Secrets, mut text: String) -> FileText {
        // A quoted line has no byte-order mark.
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let masked = secrets.mask(&text).into_owned();
        let (mut rest, mut end) = (masked.as_str(), 0);
        let placeholder = |range: Range<usize>| {
            rest = rest.get(range.start - end..).unwrap_or_default();
            end = range.end;
            let length = rest.find('⟧').map_or(0, |at| at + '⟧'.len_utf8());
            let placeholder = Some(&rest[..length]).filter(|text| Marker::parse(text).is_some());
            // Another thread may have found a value in the meantime.
            let placeholder = placeholder.map_or_else(|| CUT.to_string(), str::to_owned);
            rest = &rest[length..];
            (range, placeholder)
        };
        let hidden = secrets.ranges(&text).into_iter().map(placeholder).collect();
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let lines = [0].into_iter().chain(ends).collect();
        FileText { text, hidden, lines }
    }

    /// Returns the text with each run of whitespace collapsed to one space.
    pub(super) fn collapsed(&self) -> FileText {
        let mut collapsed =
            FileText { text: String::with_capacity(self.text.len()), hidden: Vec::new(), lines: Vec::new() };
        let mut lines = self.lines.iter().peekable();
        let mut hidden = self.hidden.iter().peekable();
        let mut start = None;
        for (at, character) in self.text.char_indices().chain([(self.text.len(), ' ')]) {
            if start.is_some() && hidden.peek().is_some_and(|(range, _)| range.end <= at) {
                let (_, placeholder) = hidden.next().expect("it was peeked");
                collapsed
                    .hidden
                    .extend(start.take().map(|start| (start..collapsed.text.len(), placeholder.clone())));
            }
            if lines.next_if(|line| **line <= at).is_some() {
                collapsed.lines.push(collapsed.text.len());
            }
            if start.is_none() && hidden.peek().is_some_and(|(range, _)| range.start <= at) {
                start = Some(collapsed.text.len());
            }
            match character.is_whitespace() {
                false => collapsed.text.push(character),
                true if collapsed.text.ends_with(' ') => {}
                true => collapsed.text.push(' '),
            }
        }
        collapsed
    }

    /// Checks whether all of the text is visible.
    pub(super) fn is_clean(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Returns the bytes of the lines `first..=last`, 1-based.
    pub(super) fn lines(&self, first: u64, last: u64) -> Range<usize> {
        let begin = |line: u64| {
            let index = usize::try_from(line).unwrap_or(usize::MAX);
            self.lines.get(index).copied().unwrap_or(self.text.len())
        };
        let start = begin(first.saturating_sub(1));
        start..begin(last).max(start)
    }

    /// Returns a part of the text with its hidden values as placeholders, and without partial hidden values at its
    /// ends. `None` if it does not occur in the text; with `begins_line`, only the beginnings of lines count.
    pub(super) fn visible(&self, part: &str, begins_line: bool, within: &Range<usize>) -> Option<String> {
        let bytes = self.text.as_bytes();
        let is_possible = |at: &usize| !begins_line || *at == 0 || bytes[at - 1] == b'\n';
        let mut hidden: Vec<(Range<usize>, &str)> = Vec::new();
        let mut matches = 0;
        for at in self.matches(part, within).filter(is_possible) {
            matches += 1;
            if matches > MOST_MATCHES {
                return None;
            }
            let end = at + part.len();
            for (range, placeholder) in self.hidden_in(at..end) {
                let is_whole = at <= range.start && range.end <= end;
                let covered = range.start.max(at) - at..range.end.min(end) - at;
                hidden.push((covered, if is_whole { placeholder } else { "" }));
            }
        }
        if matches == 0 {
            return None;
        }
        // If the part occurs more than once, bytes that are hidden in any occurrence are hidden.
        hidden.sort_unstable_by_key(|(range, _)| (range.start, range.end));
        let mut visible = String::with_capacity(part.len());
        let mut end = 0;
        for (range, placeholder) in hidden {
            if range.start >= end && !range.is_empty() {
                visible.push_str(&part[end..range.start]);
                visible.push_str(placeholder);
            }
            end = end.max(range.end);
        }
        visible.push_str(&part[end..]);
        Some(visible)
    }

    /// Returns a name as it is visible in the text, or a mark that it is hidden. A derived name need not occur in the
    /// text: then each of its words has to be visible.
    pub(super) fn name(&self, name: &str, within: &Range<usize>) -> String {
        let whole = 0..self.text.len();
        if self.shows(name, within) {
            return name.to_owned();
        }
        let mut hidden = self.matches(name, within).flat_map(|at| {
            let placed = at..at + name.len();
            self.hidden_in(placed.clone()).iter().filter(move |(range, _)| *range == placed)
        });
        if let Some((_, placeholder)) = hidden.next() {
            return placeholder.clone();
        }
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let mut words = name.split(|character| !is_word(character)).filter(|word| !word.is_empty());
        // A name that occurs there is hidden, at least in part.
        let is_derived = self.matches(name, &whole).next().is_none();
        let is_count =
            |word: &str| word.len() <= MOST_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_visible = |word| is_count(word) || self.shows(word, within);
        if is_derived && words.all(is_visible) { name.to_owned() } else { CUT.to_string() }
    }

    /// Checks whether a name occurs in the visible text other than as part of a longer one.
    fn shows(&self, name: &str, within: &Range<usize>) -> bool {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        self.matches(name, within).take(MOST_MATCHES).any(|at| {
            let end = at + name.len();
            let is_longer = |inner: Option<char>, outer: Option<char>| {
                inner.is_some_and(is_word) && outer.is_some_and(is_word)
            };
            !is_longer(name.chars().next(), self.text[..at].chars().next_back())
                && !is_longer(name.chars().next_back(), self.text[end..].chars().next())
                && self.hidden_in(at..end).is_empty()
        })
    }

    /// Returns all offsets of a part, including overlapping ones.
    fn matches<'p>(&'p self, part: &'p str, within: &Range<usize>) -> impl Iterator<Item = usize> + 'p {
        let finder = memmem::Finder::new(part);
        let (mut from, end) = (within.start, within.end.min(self.text.len()));
        std::iter::from_fn(move || {
            let at = from + finder.find(self.text.as_bytes().get(from..end)?)?;
            from = at + 1;
            Some(at)
        })
    }

    fn hidden_in(&self, range: Range<usize>) -> &[(Range<usize>, String)] {
        let first = self.hidden.partition_point(|(hidden, _)| hidden.end <= range.start);
        let rest = &self.hidden[first..];
        &rest[..rest.partition_point(|(hidden, _)| hidden.start < range.end)]
    }
}
