//! The searched lines as one text, and the occurrences of a search text in it.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use memchr::{memchr_iter, memmem};

use super::SearchText;
use crate::Source;

/// Lines with one LF between them; borrows the bytes of the text where it already has this form.
pub(super) struct Haystack<'a> {
    text: Cow<'a, [u8]>,
    first_line: usize,
}

/// One occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// The byte in the haystack at which it begins.
    pub(super) start: usize,
    /// The 0-based index of the line at which it begins.
    pub(super) line_index: usize,
}

/// Occurrences that do not overlap, counted up to a limit.
#[derive(Debug, Default)]
pub(super) struct Occurrences {
    pub(super) count: usize,
    pub(super) first: Vec<Occurrence>,
}

impl<'a> Haystack<'a> {
    /// Takes the lines as they are, apart from their endings; bytes that cannot be decoded become U+FFFD, as in every view.
    pub(super) fn of_text(source: &Source<'a>, lines: Range<usize>) -> Haystack<'a> {
        let format = source.format();
        let is_plain = format.encoding == crate::Encoding::Utf8
            && !format.mixed_line_endings
            && format.line_ending == crate::LineEnding::Lf
            && !source.is_lossy();
        if is_plain {
            let span = source.offset_of(lines.start)..source.offset_of(lines.end);
            return Haystack { text: Cow::Borrowed(&source.bytes()[span]), first_line: lines.start };
        }
        let ends_with_ending = lines.end < source.total_lines() || format.final_newline;
        let mut text = Vec::new();
        for index in lines.clone() {
            text.extend_from_slice(source.line_text(index + 1).unwrap_or_default().as_bytes());
            text.push(b'\n');
        }
        if !ends_with_ending {
            text.pop();
        }
        Haystack { text: Cow::Owned(text), first_line: lines.start }
    }

    /// Takes the lines as [`bare_line`] makes them.
    pub(super) fn of_bare_lines(source: &Source<'a>, lines: Range<usize>) -> Haystack<'a> {
        let mut text = Vec::with_capacity(source.bytes().len());
        for index in lines.clone() {
            let line = source.line_text(index + 1).unwrap_or_default();
            text.extend_from_slice(bare_line(&line).as_bytes());
            text.push(b'\n');
        }
        Haystack { text: Cow::Owned(text), first_line: lines.start }
    }

    /// Counts the occurrences of whole lines.
    pub(super) fn whole_lines(&self, wanted: &str, limit: usize, kept: usize) -> Occurrences {
        let needle = format!("\n{wanted}\n");
        let finder = memmem::Finder::new(&needle);
        self.count(limit, kept, |from| {
            let range = self.line_start(&finder, &needle, from)?;
            let next = range.end + 1;
            Some((range, next))
        })
    }

    /// Counts the occurrences of a text that may begin and end within lines.
    pub(super) fn anywhere(&self, wanted: &str, limit: usize, kept: usize) -> Occurrences {
        let finder = memmem::Finder::new(wanted);
        self.count(limit, kept, |from| {
            let at = from + finder.find(self.text.get(from..)?)?;
            Some((at..at + wanted.len(), at + wanted.len()))
        })
    }

    /// Calls `visit` with the line index of every occurrence of whole lines, including overlapping ones, until it returns
    /// `false`.
    ///
    /// Rejecting a candidate costs its length, so the number of misses is bounded.
    pub(super) fn candidates(&self, wanted: &str, mut visit: impl FnMut(usize) -> bool) {
        let needle = format!("\n{wanted}\n");
        let finder = memmem::Finder::new(&needle);
        let mut work = 4 * self.text.len() + (1 << 20);
        let (mut from, mut counted, mut line_index) = (0, 0, self.first_line);
        while let Some(range) = self.line_start(&finder, &needle, from) {
            line_index += memchr_iter(b'\n', &self.text[counted..range.start]).count();
            counted = range.start;
            if !visit(line_index) || work < needle.len() {
                return;
            }
            work -= needle.len();
            from = range.start + 1;
        }
    }

    /// Finds whole lines that begin at or after `from`; `needle` has a line feed on both sides of them.
    fn line_start(&self, finder: &memmem::Finder<'_>, needle: &str, from: usize) -> Option<Range<usize>> {
        let text = self.text.as_ref();
        let wanted = &needle.as_bytes()[1..needle.len() - 1];
        // A blank last line in the needle needs its own line feed: that of the line above is not a line.
        let may_end_text = !wanted.ends_with(b"\n");
        let is_at_start = || {
            let is_whole = text.get(wanted.len()).map_or(may_end_text, |next| *next == b'\n');
            is_whole && text.starts_with(wanted)
        };
        if from == 0 && is_at_start() {
            return Some(0..wanted.len());
        }
        // The line feed before the first of the lines belongs to the line above.
        let begin = from.saturating_sub(1);
        if let Some(at) = text.get(begin..).and_then(|rest| finder.find(rest)) {
            let start = begin + at + 1;
            return Some(start..start + wanted.len());
        }
        let start = text.len().checked_sub(wanted.len()).filter(|start| may_end_text && *start > begin)?;
        (text[start - 1] == b'\n' && &text[start..] == wanted).then_some(start..text.len())
    }

    fn count(
        &self,
        limit: usize,
        kept: usize,
        next: impl Fn(usize) -> Option<(Range<usize>, usize)>,
    ) -> Occurrences {
        let mut occurrences = Occurrences::default();
        let (mut from, mut counted, mut line_index) = (0, 0, self.first_line);
        while let Some((range, end)) = next(from) {
            if occurrences.first.len() < kept {
                line_index += memchr_iter(b'\n', &self.text[counted..range.start]).count();
                counted = range.start;
                occurrences.first.push(Occurrence { start: range.start, line_index });
            }
            occurrences.count += 1;
            if occurrences.count >= limit {
                break;
            }
            from = end;
        }
        occurrences
    }

    /// Adds a second occurrence to a single one if they overlap.
    pub(super) fn with_overlap(&self, occurrences: Occurrences, search: &SearchText) -> Occurrences {
        let [first] = occurrences.first[..] else { return occurrences };
        let from = first.start + 1;
        let second = if search.is_whole_lines {
            let needle = format!("\n{}\n", search.text);
            self.line_start(&memmem::Finder::new(&needle), &needle, from).map(|range| range.start)
        } else {
            let rest = self.text.get(from..);
            rest.and_then(|rest| memmem::find(rest, search.text.as_bytes())).map(|at| from + at)
        };
        let Some(second) = second else { return occurrences };
        let lines_between = memchr_iter(b'\n', &self.text[first.start..second]).count();
        let second = Occurrence { start: second, line_index: first.line_index + lines_between };
        Occurrences { count: 2, first: vec![first, second] }
    }
}

/// Checks whether the first of some lines ends with CRLF.
pub(super) fn has_crlf(source: &Source<'_>, lines: &RangeInclusive<usize>) -> bool {
    let unit = source.format().encoding.unit_bytes();
    source.ending_bytes(lines.start() - 1) == 2 * unit
}

/// Returns a line without the differences that rules may allow: whitespace at both ends and curly quotes.
pub(super) fn bare_line(line: &str) -> Cow<'_, str> {
    straight(line.trim_matches(WHITESPACE))
}

/// The characters that count as whitespace.
pub(super) const WHITESPACE: [char; 3] = [' ', '\t', '\r'];

/// Returns a text with straight quotes.
pub(super) fn straight(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_curly) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(straight_quote).collect())
}

/// Checks for a straight quote.
pub(crate) fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"')
}

/// Checks for a curly quote.
pub(crate) fn is_curly(character: char) -> bool {
    straight_quote(character) != character
}

fn straight_quote(character: char) -> char {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' => '"',
        other => other,
    }
}
