//! The text that a background process prints once it is ready.

use crate::launcher::drain::OutputStream;

/// A search for a text in two streams that arrive in pieces: verbatim, and without their control sequences.
#[derive(Debug)]
pub(super) struct ReadyText {
    text: Vec<u8>,
    /// For each prefix length, the longest shorter prefix that it ends with (Knuth–Morris–Pratt).
    fallback: Vec<usize>,
    streams: [Stream; 2],
}

#[derive(Debug, Default)]
struct Stream {
    /// The length of the text's prefix that the stream currently ends with.
    matched: usize,
    /// The same without control sequences.
    matched_plain: usize,
    sequence: Sequence,
}

impl ReadyText {
    pub(super) fn new(text: &str) -> ReadyText {
        let text = text.as_bytes().to_vec();
        let mut fallback = vec![0; text.len()];
        let mut length = 0;
        for index in 1..text.len() {
            while length > 0 && text[index] != text[length] {
                length = fallback[length - 1];
            }
            length += usize::from(text[index] == text[length]);
            fallback[index] = length;
        }
        ReadyText { text, fallback, streams: Default::default() }
    }

    /// Checks whether the next piece of a stream completes the text. Must not be called again once it has.
    pub(super) fn is_in(&mut self, stream: OutputStream, bytes: &[u8]) -> bool {
        let ReadyText { text, fallback, streams } = self;
        let Stream { matched, matched_plain, sequence } =
            &mut streams[usize::from(stream == OutputStream::Stderr)];
        let completes = |matched: &mut usize, byte: u8| {
            while *matched > 0 && byte != text[*matched] {
                *matched = fallback[*matched - 1];
            }
            *matched += usize::from(byte == text[*matched]);
            *matched == text.len()
        };
        bytes.iter().any(|byte| {
            let is_in_plain = sequence.push(*byte, |byte| completes(matched_plain, byte));
            completes(matched, *byte) || is_in_plain
        })
    }
}

/// The start of what may be a control sequence.
///
/// Recognizes the sequences that answers strip from an output: colours, cursor movements and modes.
#[derive(Debug, Default)]
struct Sequence {
    bytes: Vec<u8>,
}

/// The most bytes of a sequence. Real ones are far shorter; the limit bounds the buffer.
const MOST_BYTES: usize = 64;

/// The relation of bytes to a control sequence.
#[derive(PartialEq, Eq)]
enum Part {
    Beginning,
    Whole,
    None,
}

impl Sequence {
    /// Takes the next byte of a stream, and passes to `completes` the bytes that turn out not to be in a sequence. Returns
    /// whether one of them completed the text.
    fn push(&mut self, byte: u8, mut completes: impl FnMut(u8) -> bool) -> bool {
        let begins = part(&[byte]) == Part::Beginning;
        if self.bytes.is_empty() && !begins {
            return completes(byte);
        }
        self.bytes.push(byte);
        match part(&self.bytes) {
            Part::Beginning => false,
            Part::Whole => {
                self.bytes.clear();
                false
            }
            Part::None => {
                // Of these bytes, only the last one can begin another sequence.
                let plain = self.bytes.len() - usize::from(begins);
                self.bytes.drain(..plain).any(completes)
            }
        }
    }
}

fn part(bytes: &[u8]) -> Part {
    match bytes {
        [0x1b] | [0xc2] | [0x1b, b'('] => Part::Beginning,
        // The default character set, which programs emit along with colours.
        [0x1b, b'(', b'B'] => Part::Whole,
        // Numbers and a letter after ESC and `[`, or after the single character for both.
        [0x1b, b'[', rest @ ..] | [0xc2, 0x9b, rest @ ..] => match rest.last() {
            None => Part::Beginning,
            Some(last) if last.is_ascii_alphabetic() => Part::Whole,
            Some(b'0'..=b'9' | b';' | b':' | b'?') if bytes.len() < MOST_BYTES => Part::Beginning,
            Some(_) => Part::None,
        },
        _ => Part::None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_in(text: &str, pieces: &[&[u8]]) -> bool {
        let mut ready = ReadyText::new(text);
        pieces.iter().any(|piece| ready.is_in(OutputStream::Stdout, piece))
    }

    /// A piece of an output, and the same without control sequences.
    fn piece() -> impl Strategy<Value = (String, String)> {
        let same = |text: String| (text.clone(), text);
        let sequences = ["\u{1b}[32m", "\u{1b}[m", "\u{1b}[?25l", "\u{9b}1;38:2m", "\u{1b}(B", "\u{1b}[2K"];
        // They begin as sequences do.
        let others =
            ["\u{1b}\n", "\u{1b}\u{1b}[3\n", "\u{b7}", "\u{1b}[1\u{1b}[1;\n", "\u{1b}(c", "\u{1b}]8;"];
        prop_oneof![
            4 => "[abc]{0,3}".prop_map(same),
            3 => prop::sample::select(sequences.to_vec()).prop_map(|text| (text.to_owned(), String::new())),
            1 => prop::sample::select(others.to_vec()).prop_map(str::to_owned).prop_map(same),
        ]
    }

    proptest! {
        #[test]
        fn the_text_is_found_however_the_output_is_cut_and_coloured(
            text in "[ab]{1,6}",
            pieces in prop::collection::vec(piece(), 0..10),
            most in 1_usize..6,
        ) {
            let (output, plain): (Vec<String>, Vec<String>) = pieces.into_iter().unzip();
            let (output, plain) = (output.concat(), plain.concat());
            let cut: Vec<&[u8]> = output.as_bytes().chunks(most).collect();
            prop_assert_eq!(is_in(&text, &cut), output.contains(&text) || plain.contains(&text));
        }
    }

    #[test]
    fn colours_within_the_text_are_passed_over_and_other_bytes_are_not() {
        let coloured: &[u8] = b"  \x1b[1mLocal\x1b[22m: http://localhost:\x1b[1m5173\x1b[22m/";
        assert!(is_in("Local: http://localhost:5173/", &[coloured]));
        assert!(is_in("\u{1b}[22m: http", &[coloured]));
        for other in ["Local\u{7}:", "Local\u{1b}]0;x\u{7}:", "Local\u{1b}[1 m:", "Local\u{fffd}:"] {
            assert!(!is_in("Local:", &[other.as_bytes()]), "{other:?}");
        }
        // A sequence that never ends is not kept.
        let endless = format!("\u{1b}[{}ready", "1".repeat(2 * MOST_BYTES));
        assert!(is_in("1ready", &[endless.as_bytes()]));
    }

    #[test]
    fn two_streams_do_not_make_one_text() {
        let mut ready = ReadyText::new("ab");
        assert!(!ready.is_in(OutputStream::Stdout, b"a"));
        assert!(!ready.is_in(OutputStream::Stderr, b"b"));
        assert!(ready.is_in(OutputStream::Stdout, b"b"));
    }
}
