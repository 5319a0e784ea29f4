//! The lines of a key's body, whether printed, numbered or quoted.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::line_parts::{
    Class, LEAST_RUN_BYTES, begins_key, classify, differs_from_word, is_base64, is_random, runs,
};

/// The minimum number of short lines that make a key without a longer one among them.
const FEWEST_SHORT_LINES: usize = 4;

/// The minimum number of equally long lines with other text that may belong to one key.
const FEWEST_EQUAL_LINES: usize = 2;

/// The maximum number of consecutive lines within a key that have no part of it. It bounds the search of text after the
/// mention of a first line.
const MOST_OTHER_LINES: usize = 16;

/// Prefixes from the Base64 alphabet that a diff or a comment puts before a line, without a space.
pub(super) const PREFIXES: [&str; 3] = ["///", "//", ADDED];

/// The marker of an added line in a diff.
const ADDED: &str = "+";

/// The names of headers that may follow the first line, apart from `X-…`.
const HEADERS: [&str; 9] = [
    "Proc-Type",
    "DEK-Info",
    "Key-Info",
    "Version",
    "Comment",
    "Subject",
    "Hash",
    "Charset",
    "Content-Domain",
];

/// The headers of an encrypted key: its first characters are as random as the others.
const ENCRYPTED: [&str; 2] = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: "];

/// The state of the lines below the first line of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyState {
    /// True after a line that is neither blank nor a header.
    has_lines: bool,
    /// True after a line with other text.
    has_others: bool,
    /// The number of lines since the last one with a part of a key.
    others: usize,
    /// True if the lines so far certainly belong to a key: the next ones need no further evidence.
    is_evident: bool,
}

impl KeyState {
    /// Returns the state after a first line; `is_evident` is true if the lines below certainly belong to a key.
    pub(super) fn after_first_line(is_evident: bool) -> KeyState {
        KeyState { is_evident, ..KeyState::default() }
    }

    pub(super) fn is_evident(self) -> bool {
        self.is_evident
    }
}

/// The certainty that a hidden part belongs to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    Certain,
    /// It may be other random text: it is hidden here and nowhere else.
    Possible,
}

/// Lines that may be the body of a key. Which of them are hidden depends on all of them.
#[derive(Debug)]
pub(super) struct BodyLines<'t> {
    pub(super) state: KeyState,
    text: &'t str,
    /// The text before the boundary, which may be before each line as well.
    lead: &'t str,
    /// True below a first line, where headers and blank lines may occur.
    is_below: bool,
    is_encrypted: bool,
    /// True if a line has the diff marker of a removed line, which is not a Base64 character.
    has_removed: bool,
    /// The number of the line added last; numbers further up are negative.
    line: isize,
    parts: Vec<Placed>,
}

/// A part of a line of the text.
#[derive(Debug)]
struct Placed {
    class: Class,
    range: Range<usize>,
    line: isize,
    /// True at the start of the line.
    is_first: bool,
}

impl<'t> BodyLines<'t> {
    pub(super) fn new(text: &'t str, state: KeyState, lead: &'t str, is_below: bool) -> BodyLines<'t> {
        BodyLines {
            state,
            text,
            lead,
            is_below,
            is_encrypted: false,
            has_removed: false,
            line: 0,
            parts: Vec::new(),
        }
    }

    /// Adds the next line, which begins at `start`. Returns false after too many other lines.
    pub(super) fn add(&mut self, line: &str, start: usize) -> bool {
        let bare = line.strip_prefix(self.lead).unwrap_or(line);
        let start = start + line.len() - bare.len();
        self.line += if self.is_below { 1 } else { -1 };
        let is_head = self.is_below && !self.state.has_lines;
        // Also after a line number.
        let is_above = self.is_below && self.parts.is_empty() && bare.contains(": ");
        self.is_encrypted |= is_above && ENCRYPTED.iter().any(|header| bare.contains(header));
        self.has_removed |=
            bare.strip_prefix('-').is_some_and(|line| line.bytes().next().is_some_and(is_base64));
        let is_between = self.is_below && (bare.trim().is_empty() || is_head && is_header(bare));
        self.state.has_lines |= !is_between;
        let mut parts = classify(bare).into_iter().peekable();
        let plain = parts.next_if(|part| part.class == Class::Plain);
        let placed = |class, range: Range<usize>, line| Placed {
            class,
            is_first: range.start == 0,
            range: start + range.start..start + range.end,
            line,
        };
        if !self.state.has_others {
            match plain {
                Some(plain) => {
                    self.parts.push(placed(Class::Plain, plain.range, self.line));
                    return true;
                }
                None if is_between => return true,
                None => self.state.has_others = true,
            }
        }
        let mut is_part = false;
        for part in parts {
            is_part |= part.class != Class::Word;
            self.parts.push(placed(part.class, part.range, self.line));
        }
        self.state.others = if is_part { 0 } else { self.state.others + 1 };
        self.state.others <= MOST_OTHER_LINES
    }

    /// Calls `hide` with the parts to hide; `is_ended` is true if the last line of a key follows. Returns the state
    /// after them.
    ///
    /// A text that only mentions a first line may be followed by single words, code and hashes.
    pub(super) fn hidden(
        mut self,
        is_ended: bool,
        mut hide: impl FnMut(Range<usize>, Certainty),
    ) -> KeyState {
        self.parts.sort_by_key(|part| part.range.start);
        for prefix in PREFIXES {
            self.leave_out(prefix);
        }
        let evidence = Evidence::of(&self);
        match is_ended {
            true => self.hide_above_end(&evidence, &mut hide),
            false => self.hide_without_end(&evidence, &mut hide),
        }
        KeyState { is_evident: evidence.is_key(), ..self.state }
    }

    fn hide_above_end(&self, evidence: &Evidence, hide: &mut impl FnMut(Range<usize>, Certainty)) {
        let is_key = evidence.is_plain_key || evidence.has_parts;
        let certainty = if evidence.is_key() { Certainty::Certain } else { Certainty::Possible };
        // A word that several lines share is the name of a file, or of the program that prints them.
        let mut words: HashMap<&str, (isize, bool)> = HashMap::new();
        for word in self.of(Class::Word) {
            let (first, is_repeated) = words.entry(self.text_of(word)).or_insert((word.line, false));
            *is_repeated |= *first != word.line;
        }
        for part in &self.parts {
            let (is_hidden, certainty) = match part.class {
                Class::Plain => (is_key || !self.state.has_others, Certainty::Certain),
                Class::Random | Class::Grouped => (true, certainty),
                Class::Short => (is_key, certainty),
                Class::Word => (is_key && !words[self.text_of(part)].1, certainty),
            };
            if is_hidden {
                hide(part.range.clone(), certainty);
            }
        }
    }

    fn hide_without_end(&self, evidence: &Evidence, hide: &mut impl FnMut(Range<usize>, Certainty)) {
        let of_key = if evidence.begins { Certainty::Certain } else { Certainty::Possible };
        // The previous line, if it has a part as long as those of the key.
        let mut before: Option<(isize, usize, Certainty)> = None;
        for part in &self.parts {
            let length = part.range.len();
            let is_last = before.filter(|(line, full, _)| line + 1 == part.line && length < *full);
            let hidden = match part.class {
                Class::Plain => evidence.is_plain_key.then_some(Certainty::Certain),
                Class::Random if evidence.full.contains(&length) => Some(Certainty::Certain),
                Class::Random if evidence.equal.contains(&length) => Some(Certainty::Possible),
                Class::Random => is_last
                    .map(|(_, _, certainty)| certainty)
                    .or(evidence.begins.then_some(Certainty::Possible)),
                Class::Grouped => (evidence.grouped >= FEWEST_SHORT_LINES).then_some(of_key),
                Class::Short => evidence.short.contains(&length).then_some(of_key),
                Class::Word => None,
            };
            let Some(certainty) = hidden else { continue };
            if part.class == Class::Random && is_last.is_none() {
                before = Some((part.line, length, certainty));
            }
            hide(part.range.clone(), certainty);
        }
    }

    /// Excludes a prefix of the lines if all have it, or if it makes a line longer than the others. A line of a key may
    /// begin with the same characters.
    fn leave_out(&mut self, prefix: &str) {
        let text = self.text;
        let has_prefix = |part: &Placed| text[part.range.clone()].starts_with(prefix);
        let (signed, others): (Vec<&Placed>, Vec<&Placed>) = self
            .parts
            .iter()
            .filter(|part| matches!(part.class, Class::Plain | Class::Random | Class::Short))
            .partition(|part| has_prefix(part));
        let length = match (signed.len(), usual_length(&others)) {
            (0, _) => return,
            (1, None) if !self.has_removed => return,
            (_, Some(length)) => length + prefix.len(),
            (_, None) => usual_length(&signed).unwrap_or(0),
        };
        let mut before = None;
        for part in self.parts.iter_mut().filter(|part| text[part.range.clone()].starts_with(prefix)) {
            let is_last =
                part.range.len() < length && before.is_some_and(|line: isize| line + 1 == part.line);
            let is_added = prefix == ADDED && self.has_removed && part.is_first;
            if part.range.len() == length || is_last || is_added {
                part.range.start += prefix.len();
                before = Some(part.line);
            }
        }
    }

    fn of(&self, class: Class) -> impl Iterator<Item = &Placed> {
        self.parts.iter().filter(move |part| part.class == class)
    }

    fn text_of(&self, part: &Placed) -> &'t str {
        &self.text[part.range.clone()]
    }
}

/// Joint evidence that the lines belong to a key.
struct Evidence {
    /// True if the lines without other text are not words below a mention of a key.
    is_plain_key: bool,
    /// True if there are parts next to other text that do not look like words.
    has_parts: bool,
    /// True if the first of them begins like a key.
    begins: bool,
    /// The lengths of random parts that certainly belong to the key.
    full: HashSet<usize>,
    /// The lengths shared by random parts of several lines.
    equal: HashSet<usize>,
    /// The lengths shared by short parts of enough lines.
    short: HashSet<usize>,
    grouped: usize,
}

impl Evidence {
    /// Checks whether the lines certainly belong to a key, given an adjacent first or last line.
    fn is_key(&self) -> bool {
        self.is_plain_key || self.begins || !self.equal.is_empty()
    }

    fn of(lines: &BodyLines<'_>) -> Evidence {
        let plain = || lines.of(Class::Plain).map(|part| lines.text_of(part));
        let is_plain_key = plain().any(|line| line.len() >= LEAST_RUN_BYTES || differs_from_word(line))
            || plain().count() >= FEWEST_SHORT_LINES;
        let mut parts = lines
            .parts
            .iter()
            .filter(|part| matches!(part.class, Class::Random | Class::Grouped | Class::Short));
        let first = parts.next();
        let begins = lines.state.is_evident
            || lines.is_encrypted
            || first.is_some_and(|part| begins_key(lines.text_of(part)));
        let mut full = HashSet::new();
        if is_plain_key {
            full.extend(plain().map(str::len).filter(|length| *length >= LEAST_RUN_BYTES));
        }
        let longest = lines.of(Class::Random).next();
        full.extend(longest.filter(|_| begins).map(|part| part.range.len()));
        let grouped = lines.of(Class::Grouped).count();
        let has_short = lines.of(Class::Short).count() >= FEWEST_SHORT_LINES;
        Evidence {
            is_plain_key,
            has_parts: longest.is_some() || grouped > 0 || has_short,
            begins,
            full,
            equal: lengths(lines.of(Class::Random), FEWEST_EQUAL_LINES),
            short: lengths(lines.of(Class::Short), FEWEST_SHORT_LINES),
            grouped,
        }
    }
}

/// Returns the lengths that at least `fewest` parts have.
fn lengths<'p>(parts: impl Iterator<Item = &'p Placed>, fewest: usize) -> HashSet<usize> {
    let mut lines: HashMap<usize, (usize, isize)> = HashMap::new();
    for part in parts {
        let (count, last) = lines.entry(part.range.len()).or_default();
        *count += usize::from(*last != part.line);
        *last = part.line;
    }
    lines.into_iter().filter(|(_, (count, _))| *count >= fewest).map(|(length, _)| length).collect()
}

/// Returns the length that most parts have, the largest of several.
fn usual_length(parts: &[&Placed]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for part in parts {
        *counts.entry(part.range.len()).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(length, count)| (*count, *length)).map(|(length, _)| length)
}

/// Checks for a line that may occur between the first line and the body: `Proc-Type: 4,ENCRYPTED`.
fn is_header(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, value)| {
        let is_name = HEADERS.contains(&name) || name.starts_with("X-") || name.starts_with("x-");
        is_name && value.starts_with(' ') && !runs(line).any(|run| is_random(&line[run]))
    })
}
