//! The passage of a text that is most similar to a search text that does not occur in it.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::{Range, RangeInclusive};

use super::SearchText;
use super::haystack::bare_line;
use crate::{Difference, Source, first_difference};

/// The shortest word that counts.
const LEAST_WORD_BYTES: usize = 2;

/// The extra words that an equal line counts as, ignoring whitespace at its ends.
const SAME_LINE: u32 = 3;

/// The most lines of a search text that are compared; a longer one is represented by its first lines.
const COMPARED_LINES: usize = 200;

/// The most bytes of a line whose words are compared.
const COMPARED_BYTES: usize = 1 << 12;

/// The most passages that are compared with the possible result of an edit.
const COMPARED_PASSAGES: usize = 1000;

/// The passage that is most similar to a search text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestPassage {
    /// Its lines, 1-based and inclusive.
    pub lines: RangeInclusive<usize>,
    /// The first line of the search text that differs from the passage; `None` if only trailing whitespace differs.
    pub difference: Option<Difference>,
}

impl fmt::Display for NearestPassage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.start() == self.lines.end() {
            write!(formatter, "line {}", self.lines.start())?;
        } else {
            write!(formatter, "lines {}-{}", self.lines.start(), self.lines.end())?;
        }
        let Some(Difference { line_index, expected: Some(expected), present }) = &self.difference else {
            return Ok(());
        };
        let number = self.lines.start() + line_index;
        // Quote lines without escapes, so that a caller can find them in the message.
        match present {
            Some(present) => {
                write!(formatter, ", where line {number} is `{}` and not `{}`", cut(present), cut(expected))?;
                if differs_invisibly(present, expected) {
                    write!(formatter, " (they differ in whitespace or control characters)")?;
                }
                Ok(())
            }
            None => write!(formatter, ", which has no line `{}` after it", cut(expected)),
        }
    }
}

/// Checks whether two lines look the same if whitespace and control characters are not distinguished.
fn differs_invisibly(one: &str, other: &str) -> bool {
    let letters =
        |line: &str| -> String { line.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect() };
    letters(one) == letters(other)
}

/// The beginning of a line that a message quotes.
fn cut(line: &str) -> String {
    let mut text = String::new();
    crate::source::push_cut(&mut text, line, &mut 120);
    text
}

/// Finds the passage in `lines` that shares the most words and lines with `search`; `None` if it has less than a third of the
/// words. ASCII case is ignored.
pub(super) fn passage(source: &Source<'_>, search: &[&str], lines: Range<usize>) -> Option<NearestPassage> {
    let search = &search[..search.len().min(COMPARED_LINES)];
    let start = nearest_starts(source, search, lines.clone())?.next()?;
    Some(NearestPassage::of(source, search, start..(start + search.len()).min(lines.end)))
}

/// Returns the starts of the passages that share the most words and lines with `search`, in the order of the text, as 0-based
/// indexes.
fn nearest_starts<'a>(
    source: &'a Source<'_>,
    search: &'a [&str],
    lines: Range<usize>,
) -> Option<impl Iterator<Item = usize> + 'a> {
    let bare: Vec<_> = search.iter().map(|line| bare_line(line)).collect();
    // Each word counts at most as often as in the search text.
    let mut wanted: HashMap<&str, u32> = HashMap::new();
    let lower: Vec<_> = bare.iter().map(|line| line.to_ascii_lowercase()).collect();
    for line in &lower {
        for word in words(line) {
            *wanted.entry(word).or_default() += 1;
        }
    }
    let same: HashMap<&str, ()> =
        bare.iter().filter(|line| line.len() >= LEAST_WORD_BYTES).map(|line| (line.as_ref(), ())).collect();
    let most = wanted.values().sum::<u32>();
    let height = search.len();
    let mut window: VecDeque<u32> = VecDeque::with_capacity(height + 1);
    let (mut score, mut best, mut best_ends) = (0u32, 0u32, Vec::new());
    for index in lines.clone() {
        let line = source.line_text(index + 1)?;
        let line = bare_line(&line);
        let shared = words(&line.to_ascii_lowercase()).filter(|word| wanted.contains_key(word)).count();
        let shared = u32::try_from(shared).unwrap_or(u32::MAX).min(most.saturating_mul(2));
        let points = shared + if same.contains_key(line.as_ref()) { SAME_LINE } else { 0 };
        window.push_back(points);
        score += points;
        if window.len() > height {
            score -= window.pop_front().unwrap_or(0);
        }
        if score > best {
            best = score;
            best_ends.clear();
        }
        if score == best && best_ends.len() < COMPARED_PASSAGES {
            best_ends.push(index + 1);
        }
    }
    if best == 0 || best * 3 < most {
        return None;
    }
    drop(same);
    let start = move |end: usize| aligned(source, &bare, end.saturating_sub(height), &lines);
    Some(best_ends.into_iter().map(start))
}

impl NearestPassage {
    /// Returns lines as a passage, by 0-based indexes.
    fn of(source: &Source<'_>, search: &[&str], lines: Range<usize>) -> NearestPassage {
        let present = lines.clone().filter_map(|index| source.line_text(index + 1));
        let difference = first_difference(search, present).filter(|_| !lines.is_empty());
        NearestPassage { lines: lines.start + 1..=lines.end, difference }
    }
}

/// Finds a passage in `lines` that is as similar to `search` as `made`, the possible result of the edit; `None` if there is none.
pub(crate) fn rival(
    source: &Source<'_>,
    search: &SearchText,
    made: &RangeInclusive<usize>,
    lines: Range<usize>,
) -> Option<NearestPassage> {
    let search = search.as_lines();
    let search = &search.lines()[..search.lines().len().min(COMPARED_LINES)];
    let height = search.len();
    let wanted: Vec<Vec<&str>> = search.iter().map(|line| tokens(line).collect()).collect();
    let likeness = |start: usize| -> usize {
        let common = |(index, wanted): (usize, &Vec<&str>)| {
            source.line_text(start + index + 1).map_or(0, |line| common_ends(wanted, &line))
        };
        wanted.iter().enumerate().map(common).sum()
    };
    // The new text may have lines above the searched ones.
    let starts = (made.start() - 1..*made.end()).take(COMPARED_LINES);
    let made_likeness = starts.map(likeness).max().filter(|made_likeness| *made_likeness > 0)?;
    let mut nearest = nearest_starts(source, search, lines.clone())?;
    let is_apart = |start: &usize| start + height < *made.start() || start >= made.end();
    let start = nearest.find(|start| is_apart(start) && likeness(*start) >= made_likeness)?;
    Some(NearestPassage::of(source, search, start..(start + height).min(lines.end)))
}

/// Counts the tokens at both ends of a line that equal those of `wanted`.
fn common_ends(wanted: &[&str], line: &str) -> usize {
    let present: Vec<&str> = tokens(line).collect();
    let first = wanted.iter().zip(&present).take_while(|(one, other)| one == other).count();
    let rest = wanted[first..].iter().rev().zip(present[first..].iter().rev());
    first + rest.take_while(|(one, other)| one == other).count()
}

/// Returns the words of a line, and every other character except whitespace as its own token.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let line = &line[..line.floor_char_boundary(COMPARED_BYTES)];
    let is_of_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        at += line[at..].len() - line[at..].trim_start().len();
        let rest = &line[at..];
        let word = rest.find(|character| !is_of_word(character)).unwrap_or(rest.len());
        let length = if word > 0 { word } else { rest.chars().next()?.len_utf8() };
        at += length;
        Some(&rest[..length])
    })
}

/// Returns the start near `near` at which the most lines equal those of the search text, the earliest on a tie.
fn aligned(
    source: &Source<'_>,
    bare: &[std::borrow::Cow<'_, str>],
    near: usize,
    lines: &Range<usize>,
) -> usize {
    let first = near.saturating_sub(bare.len()).max(lines.start);
    let last = (near + bare.len()).min(lines.end.saturating_sub(1));
    let texts: Vec<_> = (first..(last + bare.len()).min(lines.end))
        .map(|index| {
            source.line_text(index + 1).map(|line| bare_line(&line).into_owned()).unwrap_or_default()
        })
        .collect();
    let same_lines = |start: usize| {
        let pairs = texts[start - first..].iter().zip(bare);
        pairs.filter(|(line, wanted)| !line.is_empty() && line.as_str() == wanted.as_ref()).count()
    };
    let distance = |start: usize| start.abs_diff(near);
    (first..=last)
        .max_by_key(|start| {
            (same_lines(*start), std::cmp::Reverse(distance(*start)), std::cmp::Reverse(*start))
        })
        .unwrap_or(near)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let line = &line[..line.floor_char_boundary(COMPARED_BYTES)];
    line.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| word.len() >= LEAST_WORD_BYTES)
}
