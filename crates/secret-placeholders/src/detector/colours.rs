//! Texts with the colours of a terminal in them, as `grep --color=always` and `git diff --color=always` print them.

use std::ops::Range;

/// The start of a sequence for the terminal.
const START: &str = "\u{1b}[";

/// The ends of those for colours, and of the one that clears the rest of a line.
const ENDS: [u8; 2] = [b'm', b'K'];

/// A text without its colours.
#[derive(Debug)]
pub(crate) struct Uncoloured {
    pub(crate) text: String,
    /// The offsets in the text at which bytes were left out, each with their number up to there.
    cuts: Vec<(usize, usize)>,
}

impl Uncoloured {
    /// Returns a text without its colours; `None` if it has none.
    pub(crate) fn of(coloured: &str) -> Option<Uncoloured> {
        let mut plain = Uncoloured { text: String::new(), cuts: Vec::new() };
        let (mut done, mut left_out) = (0, 0);
        for start in memchr::memmem::find_iter(coloured.as_bytes(), START) {
            let Some(length) = sequence_length(&coloured[start..]) else { continue };
            plain.text.push_str(&coloured[done..start]);
            left_out += length;
            done = start + length;
            plain.cuts.push((plain.text.len(), left_out));
        }
        if plain.cuts.is_empty() {
            return None;
        }
        plain.text.push_str(&coloured[done..]);
        Some(plain)
    }

    /// Returns the bytes of the coloured text that a part of this text has, without the colours around it.
    pub(crate) fn coloured(&self, part: Range<usize>) -> Range<usize> {
        let left_out = |cuts: usize| cuts.checked_sub(1).map_or(0, |last| self.cuts[last].1);
        let before_start = self.cuts.partition_point(|(at, _)| *at <= part.start);
        let before_end = self.cuts.partition_point(|(at, _)| *at < part.end);
        part.start + left_out(before_start)..part.end + left_out(before_end)
    }
}

/// Returns the length of the sequence at the start of a text, if it is one of colours.
fn sequence_length(text: &str) -> Option<usize> {
    let parameters = text.as_bytes()[START.len()..].iter();
    let parameters = parameters.take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    let end = START.len() + parameters;
    text.as_bytes().get(end).filter(|byte| ENDS.contains(byte)).map(|_| end + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_part_has_the_same_characters_with_and_without_colours(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", "é", "bc", "\u{1b}[1;31m", "\u{1b}[K", "\u{1b}[", "\n"]), 0..12),
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
                let part = &coloured[plain.coloured(first..last)];
                let bare = Uncoloured::of(part).map_or(part.to_owned(), |bare| bare.text);
                prop_assert_eq!(&bare, &plain.text[first..last]);
                prop_assert!(!part.starts_with(START) || sequence_length(part).is_none());
            }
        }
    }
}
