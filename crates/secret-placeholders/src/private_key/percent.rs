//! Keys in addresses and forms, where characters other than letters are written as `%0A`, and spaces as `%20` or `+`.

use std::ops::Range;

use memchr::memmem;

use super::{Depth, find_at};
use crate::detector::{Span, merge};

/// The words of the first line of a key, with the space between them as it is written.
const WORD: &str = "PRIVATE";
const AFTER_SPACE: &str = "%20KEY";
const AFTER_PLUS: &str = "+KEY";

/// Adds the parts of such keys, and returns how many bytes of such values were searched. The time is linear in the length of the text.
pub(super) fn find(text: &str, deeper: Depth, hits: &mut Vec<Span>) -> usize {
    let bytes = text.as_bytes();
    let (mut end, mut searched) = (0, 0);
    for at in memmem::find_iter(bytes, WORD) {
        let after = &text[at + WORD.len()..];
        if at < end || !(after.starts_with(AFTER_SPACE) || after.starts_with(AFTER_PLUS)) {
            continue;
        }
        let before = bytes[end..at].iter().rev().take_while(|byte| !is_outside(**byte)).count();
        let start = at - before;
        end = at + bytes[at..].iter().take_while(|byte| !is_outside(**byte)).count();
        let value = &bytes[start..end];
        // A plus sign means a space in a form, and itself in other addresses.
        let is_form = memmem::find(value, [WORD, AFTER_PLUS].concat().as_bytes()).is_some();
        let decoded = Decoded::of(value, is_form.then_some(b'+'));
        let mut spans = Vec::new();
        searched += find_at(&decoded.text, deeper, &mut spans);
        hits.extend(merge(spans).into_iter().map(|Span { range, kind }| {
            let range = decoded.encoded(range);
            Span { range: start + range.start..start + range.end, kind }
        }));
    }
    searched
}

/// Checks for a byte that is outside of such a value.
fn is_outside(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'&') || !byte.is_ascii()
}

/// A value and its decoded text.
struct Decoded {
    text: String,
    /// The start of each byte of the text in the value, and the end of the last.
    at: Vec<usize>,
}

impl Decoded {
    fn of(value: &[u8], space: Option<u8>) -> Decoded {
        let digit = |at: usize| value.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let mut decoded = Decoded { text: String::new(), at: Vec::new() };
        let mut at = 0;
        while let Some(byte) = value.get(at) {
            decoded.at.push(at);
            let escaped = match (byte, digit(at + 1), digit(at + 2)) {
                (b'%', Some(high), Some(low)) => u8::try_from(16 * high + low).ok(),
                _ => None,
            };
            at += if escaped.is_some() { 3 } else { 1 };
            let byte = escaped.unwrap_or(if space == Some(*byte) { b' ' } else { *byte });
            // One character per byte: keys have only ASCII characters.
            decoded.text.push(if byte.is_ascii() { char::from(byte) } else { '?' });
        }
        decoded.at.push(at);
        decoded
    }

    /// Maps a range of the text to the value.
    fn encoded(&self, part: Range<usize>) -> Range<usize> {
        self.at[part.start]..self.at[part.end]
    }
}
