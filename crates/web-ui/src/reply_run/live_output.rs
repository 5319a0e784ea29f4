//! The output of a command while it runs: its beginning, its end, and the amount between them.

use serde::Serialize;

use crate::bounded_text::cut;

/// The most bytes that are kept of the beginning, and of the end, of which up to twice as many are buffered.
const HEAD_BYTES: usize = 512 * 1024;
const TAIL_BYTES: usize = 128 * 1024;

/// The same once the outputs of the run have used up its budget.
const LEAST_HEAD_BYTES: usize = 4 * 1024;
const LEAST_TAIL_BYTES: usize = 1024;

/// The most characters of a line.
const LINE_CHARACTERS: usize = 4_000;

/// The output of one command.
#[derive(Debug)]
pub(super) struct LiveOutput {
    /// The bounds of `head` and `tail`.
    most_bytes: (usize, usize),
    head: String,
    /// The bytes of `head` that were published.
    published: usize,
    tail: String,
    left_out_bytes: u64,
    /// The amount left out when it was published last.
    published_left_out: u64,
    /// The bytes of an incomplete character.
    incomplete: Vec<u8>,
    /// The characters of the current line.
    line_characters: usize,
    /// The omitted characters of the current line.
    line_cut: usize,
}

/// An output, as read by a page.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputState {
    text: String,
    /// The bytes between the text and its end that were left out.
    left_out_bytes: u64,
    end: String,
}

impl LiveOutput {
    /// Returns an output that keeps at most about `bytes`, but a minimum in any case.
    pub(super) fn within(bytes: usize) -> LiveOutput {
        LiveOutput {
            most_bytes: (
                (bytes / 2).clamp(LEAST_HEAD_BYTES, HEAD_BYTES),
                (bytes / 4).clamp(LEAST_TAIL_BYTES, TAIL_BYTES),
            ),
            head: String::new(),
            published: 0,
            tail: String::new(),
            left_out_bytes: 0,
            published_left_out: 0,
            incomplete: Vec::new(),
            line_characters: 0,
            line_cut: 0,
        }
    }

    /// Returns the number of kept bytes.
    pub(super) fn bytes(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_empty() && self.incomplete.is_empty()
    }

    /// Adds a piece, which may split a character.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut piece = std::mem::take(&mut self.incomplete);
        piece.extend_from_slice(bytes);
        let mut text = String::with_capacity(piece.len());
        let mut chunks = piece.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            // Only the last bytes can be the start of a character.
            let is_start = chunks.peek().is_none()
                && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if is_start {
                self.incomplete = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        for line in text.split_inclusive('\n') {
            self.add(line);
        }
    }

    /// Completes the output of a program that has ended, possibly in the middle of a line or a character.
    pub(super) fn end(&mut self) {
        if !std::mem::take(&mut self.incomplete).is_empty() {
            self.add("\u{fffd}");
        }
        self.say_cut();
    }

    fn add(&mut self, line: &str) {
        let (content, ends) = line.strip_suffix('\n').map_or((line, false), |content| (content, true));
        let (kept, more) = cut(content, LINE_CHARACTERS.saturating_sub(self.line_characters));
        self.line_characters += kept.chars().count();
        self.line_cut += more;
        self.keep(kept);
        if ends {
            self.say_cut();
            self.keep("\n");
            self.line_characters = 0;
        }
    }

    /// Adds the note about a cut line.
    fn say_cut(&mut self) {
        if self.line_cut > 0 {
            self.keep(&format!("… [{} more characters]", self.line_cut));
            self.line_cut = 0;
        }
    }

    fn keep(&mut self, text: &str) {
        let (head_bytes, tail_bytes) = self.most_bytes;
        if self.tail.is_empty() && self.head.len() + text.len() <= head_bytes {
            self.head.push_str(text);
            return;
        }
        self.tail.push_str(text);
        if self.tail.len() > 2 * tail_bytes {
            let mut from = self.tail.len() - tail_bytes;
            while !self.tail.is_char_boundary(from) {
                from += 1;
            }
            self.left_out_bytes += from as u64;
            self.tail.drain(..from);
        }
    }

    /// Returns the unpublished text, and the number of bytes omitted after the beginning so far; `None` if nothing is new.
    pub(super) fn take_new(&mut self) -> Option<(String, u64)> {
        let left_out = self.left_out_bytes + self.tail.len() as u64;
        if self.published == self.head.len() && left_out == self.published_left_out {
            return None;
        }
        let text = self.head[self.published..].to_owned();
        self.published = self.head.len();
        self.published_left_out = left_out;
        Some((text, left_out))
    }

    /// Returns all kept output.
    pub(super) fn state(&self) -> OutputState {
        OutputState { text: self.head.clone(), left_out_bytes: self.left_out_bytes, end: self.tail.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_may_split_characters() {
        let mut output = LiveOutput::within(usize::MAX);
        for byte in "naïve ✓\n".bytes() {
            output.push(&[byte]);
        }
        assert_eq!(output.take_new(), Some(("naïve ✓\n".to_owned(), 0)));
        assert_eq!(output.take_new(), None);
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        let mut output = LiveOutput::within(usize::MAX);
        output.push(b"a\xffb\n");
        assert_eq!(output.state().text, "a\u{fffd}b\n");
    }

    #[test]
    fn an_invalid_byte_does_not_spoil_the_next_character() {
        let mut output = LiveOutput::within(usize::MAX);
        let text = "\u{e9}\n".as_bytes();
        output.push(&[b"a\xff", &text[..1]].concat());
        output.push(&text[1..]);
        assert_eq!(output.state().text, "a\u{fffd}\u{e9}\n");
        // A program that ends in the middle of a character.
        output.push(b"b\xe2\x9c");
        output.end();
        assert_eq!(output.state().text, "a\u{fffd}\u{e9}\nb\u{fffd}");
    }

    #[test]
    fn a_last_line_without_an_end_says_what_was_cut_of_it() {
        let mut output = LiveOutput::within(usize::MAX);
        output.push(&[b'x'; 10_000]);
        output.end();
        let expected = format!("{}… [6000 more characters]", "x".repeat(LINE_CHARACTERS));
        assert_eq!(output.take_new(), Some((expected, 0)));
        // Once.
        output.end();
        assert_eq!(output.take_new(), None);
    }

    #[test]
    fn little_is_kept_where_little_is_left() {
        let mut output = LiveOutput::within(0);
        for number in 0..10_000 {
            output.push(format!("line {number}\n").as_bytes());
        }
        assert!(output.bytes() <= LEAST_HEAD_BYTES + 2 * LEAST_TAIL_BYTES, "{}", output.bytes());
        let OutputState { text, left_out_bytes, end } = output.state();
        assert!(text.starts_with("line 0\n") && end.ends_with("line 9999\n") && left_out_bytes > 0);
    }

    #[test]
    fn a_line_of_ten_megabytes_is_cut_and_counted() {
        let mut output = LiveOutput::within(usize::MAX);
        for _ in 0..160 {
            output.push(&[b'x'; 64 * 1024]);
        }
        output.push(b"\nnext\n");
        let OutputState { text, left_out_bytes, end } = output.state();
        let more = 160 * 64 * 1024 - LINE_CHARACTERS;
        assert_eq!(text, format!("{}… [{more} more characters]\nnext\n", "x".repeat(LINE_CHARACTERS)));
        assert_eq!((left_out_bytes, end), (0, String::new()));
    }

    #[test]
    fn the_beginning_and_the_end_of_a_long_output_are_kept() {
        let mut output = LiveOutput::within(usize::MAX);
        for number in 0..200_000 {
            output.push(format!("line {number}\n").as_bytes());
        }
        let OutputState { text, left_out_bytes, end } = output.state();
        assert!(text.starts_with("line 0\n") && end.ends_with("line 199999\n"));
        let all: usize = (0..200_000).map(|number| format!("line {number}\n").len()).sum();
        assert_eq!(text.len() + end.len() + usize::try_from(left_out_bytes).unwrap(), all);
        assert!(text.len() + end.len() < 1024 * 1024);
    }
}
