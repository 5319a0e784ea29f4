//! A text around the lines of an answer, which shows of what they are a part.

use std::ops::Range;

use memchr::memmem;

use crate::Secrets;

/// The sign at the end of a line that was cut.
pub(crate) const CUT: char = '…';

/// The most bytes of a word at a cut that are left out, since it may be the rest of a secret.
const CUT_BYTES: usize = 4_096;

/// The shortest word at a cut that is left out.
const LEAST_CUT_BYTES: usize = 8;

/// The most bytes of a line that are searched for a value whose end was cut off.
const MOST_OPEN_BYTES: usize = 64 * 1_024;

/// A text whose secrets have placeholders, so that they are recognised wherever they stand.
#[derive(Debug)]
pub(crate) struct Surroundings {
    text: String,
    /// The secrets, in order and apart from each other.
    ranges: Vec<Range<usize>>,
}

impl Surroundings {
    /// Gives placeholders to the secrets of a text.
    pub(crate) fn new(secrets: &Secrets, mut text: String) -> Surroundings {
        // A quoted line has no byte-order mark.
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let _ = secrets.mask(&text);
        let ranges = secrets.ranges(&text);
        Surroundings { text, ranges }
    }

    /// Returns how many bytes of a line that was cut may be shown; `None` if no line of the text begins like that.
    fn shown_of(&self, beginning: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let starts = memmem::find_iter(bytes, beginning).filter(|at| *at == 0 || bytes[*at - 1] == b'\n');
        starts.map(|start| self.before_secret(start, start + beginning.len()) - start).min()
    }

    /// Returns where the text has to end so that it does not end at `end` within a secret that begins behind `start`.
    fn before_secret(&self, start: usize, end: usize) -> usize {
        let next = self.ranges.partition_point(|range| range.end <= end);
        self.ranges.get(next).map_or(end, |range| range.start.clamp(start, end))
    }
}

/// Returns a text with lines that may have been cut, without the beginnings of secrets at the cuts.
///
/// `surroundings` are texts in which the lines may stand whole; `split` divides a line into what was put in front and the line itself.
pub(crate) fn without_cut_secrets(
    secrets: &Secrets,
    text: &str,
    surroundings: &[Surroundings],
    split: impl Fn(&str) -> usize,
) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = split(line);
        let cut = line[start..].rfind(CUT).map_or(line.len(), |at| start + at);
        let before = &line[start..cut];
        kept.push_str(&line[..start]);
        kept.push_str(if cut == line.len() { before } else { before_cut(secrets, before, surroundings) });
        kept.push_str(&line[cut..]);
    }
    (kept.len() != text.len()).then_some(kept)
}

/// Returns what may be shown of a line that was cut at its end.
pub(crate) fn before_cut<'t>(secrets: &Secrets, line: &'t str, surroundings: &[Surroundings]) -> &'t str {
    match surroundings.iter().filter_map(|text| text.shown_of(line)).min() {
        Some(bytes) => &line[..bytes],
        None => without_cut_end(secrets, line),
    }
}

/// Returns a text that was cut at its end without what may be the beginning of a secret there.
pub(crate) fn without_cut_end<'t>(secrets: &Secrets, text: &'t str) -> &'t str {
    let word = text.bytes().rev().take(CUT_BYTES).take_while(|byte| !is_between(*byte)).count();
    let word = if word < LEAST_CUT_BYTES { text.len() } else { text.floor_char_boundary(text.len() - word) };
    // A value of several words has lost the quote behind it.
    let line = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
    let line = text.ceil_char_boundary(line.max(text.len().saturating_sub(MOST_OPEN_BYTES)));
    let open = ['"', '\''].into_iter().filter_map(|quote| {
        let closed = format!("{}{quote}", &text[line..]);
        secrets.ranges(&closed).into_iter().find(|range| range.end + 1 == closed.len())
    });
    let open = open.map(|range| line + range.start).min();
    &text[..open.map_or(word, |open| open.min(word))]
}

/// Returns a text that was cut at its beginning without the word at the cut.
pub(crate) fn without_cut_start(text: &str) -> &str {
    let word = text.bytes().take(CUT_BYTES).take_while(|byte| !is_between(*byte)).count();
    if word < LEAST_CUT_BYTES { text } else { &text[text.ceil_char_boundary(word)..] }
}

/// Checks whether a byte stands between words.
pub(crate) fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'(' | b')')
}
