//! Texts interspersed with other characters: the colours of a terminal, as `grep --color=always` and `git diff
//! --color=always` print them, and the NULs of UTF-16 and UTF-32, as `cat` prints them.

use std::ops::Range;

/// The start of a sequence for the terminal.
const START: &str = "\u{1b}[";

/// The final bytes of the sequences for colours and for clearing the rest of a line.
const ENDS: [u8; 2] = [b'm', b'K'];

/// The minimum number of consecutive characters separated by NULs that counts as UTF-16 or UTF-32. In a NUL-separated
/// list, words of a single character are rare.
const FEWEST_WIDE: usize = 4;

/// A text without its colours, and without the NULs of wide characters.
#[derive(Debug)]
pub(crate) struct Uncoloured {
    pub(crate) text: String,
    /// The offsets in the text at which bytes were removed, each with the number of bytes removed so far.
    cuts: Vec<(usize, usize)>,
}

impl Uncoloured {
    /// Returns a text without its colours and NULs; `None` if it has none.
    pub(crate) fn of(coloured: &str) -> Option<Uncoloured> {
        let mut plain = Uncoloured { text: String::new(), cuts: Vec::new() };
        let (mut done, mut left_out) = (0, 0);
        let mut leave_out = |part: Range<usize>| {
            plain.text.push_str(&coloured[done..part.start]);
            left_out += part.len();
            done = part.end;
            plain.cuts.push((plain.text.len(), left_out));
        };
        let mut searched = 0;
        for start in memchr::memchr2_iter(0x1b, 0, coloured.as_bytes()) {
            if start < searched {
                continue;
            }
            if let Some(length) = sequence_length(&coloured[start..]) {
                searched = start + length;
                leave_out(start..searched);
            } else if let Some(nuls) = nuls_between(coloured, start) {
                searched = nuls.last().map_or(searched, |nuls| nuls.end);
                nuls.into_iter().for_each(&mut leave_out);
            }
        }
        if plain.cuts.is_empty() {
            return None;
        }
        plain.text.push_str(&coloured[done..]);
        Some(plain)
    }

    /// Maps a range of this text to the coloured text, without the colours around it.
    pub(crate) fn coloured(&self, part: Range<usize>) -> Range<usize> {
        let before_start = self.cuts.partition_point(|(at, _)| *at <= part.start);
        let before_end = self.cuts.partition_point(|(at, _)| *at < part.end);
        part.start + self.left_out(before_start)..part.end + self.left_out(before_end)
    }

    /// Returns the plain text of a range of the coloured text.
    pub(crate) fn plain(&self, part: Range<usize>) -> &str {
        let at = |coloured: usize| {
            let before = self.cuts.partition_point(|(at, left_out)| at + left_out <= coloured);
            let plain = coloured - self.left_out(before);
            // Within a sequence: the end of the text before it.
            self.cuts.get(before).map_or(plain, |(next, _)| plain.min(*next))
        };
        &self.text[at(part.start)..at(part.end)]
    }

    /// Returns the total length of the first `sequences` sequences.
    fn left_out(&self, sequences: usize) -> usize {
        sequences.checked_sub(1).map_or(0, |last| self.cuts[last].1)
    }
}

/// Returns the length of the colour sequence at the start of a text, which the end of the text may cut off.
fn sequence_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix(START)?.bytes();
    let parameters = parameters.take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    let end = START.len() + parameters;
    match text.as_bytes().get(end) {
        Some(last) => ENDS.contains(last).then_some(end + 1),
        None => Some(end),
    }
}

/// Returns the NULs between wide characters, the first of them at `start`; `None` if there are too few such characters.
fn nuls_between(text: &str, start: usize) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let count = |at: usize| bytes[at..].iter().take(4).take_while(|byte| **byte == 0).count();
    let width = count(start);
    if ![1, 3].contains(&width) {
        return None;
    }
    let (mut nuls, mut at) = (Vec::new(), start);
    while count(at) == width {
        nuls.push(at..at + width);
        at += width;
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    (nuls.len() >= FEWEST_WIDE).then_some(nuls)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_part_has_the_same_characters_with_and_without_colours(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", "é", "bc", "\u{1b}[1;31m", "\u{1b}[K", "\u{1b}[", "\n", "x\0y\0z\0é\0v\0", "\0"]), 0..12),
            ends in (0..20_usize, 0..20_usize),
        ) {
            let coloured = pieces.concat();
            let Some(plain) = Uncoloured::of(&coloured) else {
                let has = |sequence| coloured.contains(sequence);
                prop_assert!(!has("\u{1b}[K"), "a sequence was not recognised");
                return Ok(());
            };
            let (first, last) = (ends.0.min(ends.1), ends.0.max(ends.1));
            let (first, last) = (plain.text.floor_char_boundary(first), plain.text.floor_char_boundary(last));
            if first < last {
                let range = plain.coloured(first..last);
                let part = &coloured[range.clone()];
                prop_assert!(sequence_length(&coloured[range.start..]).is_none());
                prop_assert_eq!(plain.plain(range), &plain.text[first..last]);
                // A part may end within an apparent sequence, or have too few wide characters.
                prop_assume!(!part.ends_with(START));
                let bare = Uncoloured::of(part).map_or(part.to_owned(), |bare| bare.text);
                prop_assert_eq!(bare.replace('\0', ""), plain.text[first..last].replace('\0', ""));
            }
        }
    }

    #[test]
    fn nuls_between_characters_are_left_out_and_those_between_words_stay() {
        let wide = |text: &str, nuls: usize| -> String {
            text.chars().map(|character| format!("{character}{}", "\0".repeat(nuls))).collect()
        };
        let plain = |text: &str| Uncoloured::of(text).map(|plain| plain.text);
        for text in ["word", "\u{fffd}\u{fffd}first\nsecond\n"] {
            for nuls in [1, 3] {
                let little_endian = wide(text, nuls);
                assert_eq!(plain(&little_endian).as_deref(), Some(text));
                let big_endian = format!("{}{}", "\0".repeat(nuls), little_endian.trim_end_matches('\0'));
                assert_eq!(plain(&big_endian).as_deref(), Some(text));
            }
        }
        assert_eq!(
            plain(&format!("{}\u{20ac}{}", wide("word", 1), wide("more", 1))).unwrap(),
            "word\u{20ac}more"
        );
        for text in ["A=1\0TOKEN=word\0B=2\0", "a\0b\0c", "\0\0\0\0\0\0", &wide("word", 2), &wide("word", 4)]
        {
            assert_eq!(plain(text), None, "{text:?}");
        }
        // The end of a sequence may be cut off.
        assert_eq!(plain("word\u{1b}[01;3").as_deref(), Some("word"));
        assert_eq!(plain("\u{1b}[01;3x"), None);
    }
}
