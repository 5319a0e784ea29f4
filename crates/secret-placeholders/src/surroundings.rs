//! A text around the lines of an answer, which shows the secrets that they are part of.

use std::cmp::Reverse;
use std::ops::Range;

use memchr::memmem;

use crate::Secrets;
use crate::finder::HEAD_BYTES;

/// The mark at the end of a line that was cut.
pub(crate) const CUT: char = '…';

/// The maximum number of bytes of a word at a cut that are left out, since it may be the rest of a secret.
const CUT_BYTES: usize = 4_096;

/// The shortest word at a cut that is left out.
const LEAST_CUT_BYTES: usize = 8;

/// The shortest part of a value with a placeholder that is left out at a cut.
const LEAST_PART_BYTES: usize = 4;

/// The maximum number of bytes of a line that are searched for a value whose end was cut off.
const MOST_OPEN_BYTES: usize = 64 * 1_024;

/// A text whose secrets have placeholders, so that they are recognised everywhere.
#[derive(Debug)]
pub(crate) struct Surroundings {
    text: String,
    /// The secrets, sorted and disjoint.
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

    /// Returns how many bytes of a line that was cut may be shown; `None` if no line of the text begins like it.
    fn shown_of(&self, beginning: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let starts = memmem::find_iter(bytes, beginning).filter(|at| *at == 0 || bytes[*at - 1] == b'\n');
        starts.map(|start| self.before_secret(start, start + beginning.len()) - start).min()
    }

    /// Returns `end`, or an earlier end if that is within a secret that begins after `start`.
    fn before_secret(&self, start: usize, end: usize) -> usize {
        let next = self.ranges.partition_point(|range| range.end <= end);
        self.ranges.get(next).map_or(end, |range| range.start.clamp(start, end))
    }
}

/// Returns a text with lines that may have been cut, without the beginnings of secrets at the cuts.
///
/// `surroundings` are texts that may have the lines whole; `split` divides a line into its prefix and the line itself.
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
        // An apparent prefix may be the start of a value.
        let is_split = || start > 0 && secrets.beginning_at_end(&line[..cut]) > before.len();
        kept.push_str(match cut {
            cut if cut == line.len() => before,
            _ if is_split() => "",
            _ => before_cut(secrets, before, surroundings),
        });
        kept.push_str(&line[cut..]);
    }
    (kept.len() != text.len()).then_some(kept)
}

/// Returns the part that may be shown of a line that was cut at its end.
pub(crate) fn before_cut<'t>(secrets: &Secrets, line: &'t str, surroundings: &[Surroundings]) -> &'t str {
    match surroundings.iter().filter_map(|text| text.shown_of(line)).min() {
        Some(bytes) => &line[..bytes],
        None => without_cut_end(secrets, line),
    }
}

/// Returns a text that was cut at its end without a possible beginning of a secret there: a word, a value that has a
/// placeholder, or a quoted value that a rule finds.
pub(crate) fn without_cut_end<'t>(secrets: &Secrets, text: &'t str) -> &'t str {
    let word = text.bytes().rev().take(CUT_BYTES).take_while(|byte| !is_between(*byte)).count();
    let word = if word < LEAST_CUT_BYTES { 0 } else { word };
    let beginning = secrets.beginning_at_end(text);
    let beginning = if beginning < LEAST_PART_BYTES { 0 } else { beginning };
    before_end(secrets, text, word.max(beginning))
}

/// Returns a text that was cut at its end without as many of its last bytes as could reveal whether they begin a value:
/// a model may have made up the text to learn a value letter by letter.
pub(crate) fn without_last_bytes<'t>(secrets: &Secrets, text: &'t str) -> &'t str {
    let most = before_end(secrets, text, text.len().min(HEAD_BYTES));
    &text[..most.len().min(without_cut_end(secrets, text).len())]
}

/// Returns a text that was cut at its end without its last `bytes`, and without a secret that they are part of.
fn before_end<'t>(secrets: &Secrets, text: &'t str, bytes: usize) -> &'t str {
    let mut end = text.floor_char_boundary(text.len() - bytes);
    let line = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1);
    let line = text.ceil_char_boundary(line.max(text.len().saturating_sub(MOST_OPEN_BYTES)));
    let rest = &text[line..];
    // A value of several words has lost its closing quote.
    let closed = ["", "\"", "'"].map(|quote| secrets.ranges(&format!("{rest}{quote}")));
    let mut ranges = closed.concat();
    ranges.sort_unstable_by_key(|range| Reverse(range.end));
    for range in ranges {
        // The rest of a secret is not recognised, although the whole is.
        let is_cut = line + range.end > end || range.end == rest.len();
        if is_cut && line + range.start < end {
            end = line + range.start;
        }
    }
    &text[..end]
}

/// Returns a text that was cut at its beginning without the possible rest of a secret there: a word, or a value that
/// has a placeholder.
pub(crate) fn without_cut_start<'t>(secrets: &Secrets, text: &'t str) -> &'t str {
    let word = text.bytes().take(CUT_BYTES).take_while(|byte| !is_between(*byte)).count();
    let word = if word < LEAST_CUT_BYTES { 0 } else { word };
    let rest = secrets.rest_at_start(text);
    let rest = if rest < LEAST_PART_BYTES { 0 } else { rest };
    let mut start = text.ceil_char_boundary(word.max(rest));
    let line = memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len());
    let line = &text[..text.floor_char_boundary(line.min(MOST_OPEN_BYTES))];
    for range in secrets.ranges(line) {
        if range.start < start && start < range.end {
            start = range.end;
        }
    }
    &text[start..]
}

/// Checks whether a byte separates words.
pub(crate) fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'(' | b')')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    #[test]
    fn a_cut_line_shows_no_value_of_which_the_start_looks_like_a_number() {
        let secrets = Secrets::open(MemoryStore::default()).unwrap();
        let value = format!("3|{}", "Ab9 ".repeat(20).trim_end());
        assert!(!secrets.mask(&format!("password = \"{value}\"")).contains("Ab9"));
        for bytes in [9, 41, 60] {
            let line = |start: &str| format!("1|a\n{start}…\n");
            let visible = |text: &str| {
                without_cut_secrets(&secrets, text, &[], |line| line.find('|').map_or(0, |at| at + 1))
            };
            assert_eq!(visible(&line(&value[..bytes])).unwrap(), "1|a\n3|…\n");
            // The control: the rest of such a line stays if no value begins there.
            assert_eq!(visible(&line(&value[..bytes].replace("3|", "4|"))), None);
        }
    }
}
