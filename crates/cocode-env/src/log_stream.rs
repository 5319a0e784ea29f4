//! Splits the bytes of an agent's output into lines.

use std::mem;

/// The longest line in bytes; a longer line is split.
pub const LINE_LIMIT_BYTES: usize = 64 * 1024;

/// Splits a stream of bytes into lines of at most [`LINE_LIMIT_BYTES`]. Invalid UTF-8 becomes U+FFFD.
///
/// The lines do not depend on how the stream is cut into pieces, and each byte is scanned once.
///
/// ```
/// use cocode_env::LogStream;
/// let mut stream = LogStream::new();
/// let mut lines = Vec::new();
/// stream.push(b"one\ntw", |line| lines.push(line.to_owned()));
/// stream.push(b"o\n\xff", |line| lines.push(line.to_owned()));
/// stream.finish(|line| lines.push(line.to_owned()));
/// assert_eq!(lines, ["one", "two", "\u{fffd}"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogStream {
    partial: Vec<u8>,
}

impl LogStream {
    /// Creates an empty stream.
    pub fn new() -> LogStream {
        LogStream::default()
    }

    /// Appends bytes and calls `line` with each line that they complete, without its line end.
    pub fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(&str)) {
        while !bytes.is_empty() {
            // A full buffer is always emitted below, so there is room for at least one byte.
            let room = LINE_LIMIT_BYTES - self.partial.len();
            let window = &bytes[..bytes.len().min(room)];
            match window.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.partial.extend_from_slice(&bytes[..end]);
                    self.emit(&mut line);
                    bytes = &bytes[end + 1..];
                }
                None => {
                    self.partial.extend_from_slice(window);
                    bytes = &bytes[window.len()..];
                    if self.partial.len() == LINE_LIMIT_BYTES {
                        self.emit_part(&mut line);
                    }
                }
            }
        }
    }

    /// Calls `line` with the last line, if it has no line end.
    pub fn finish(mut self, mut line: impl FnMut(&str)) {
        if !self.partial.is_empty() {
            self.emit(&mut line);
        }
    }

    fn emit(&mut self, line: &mut impl FnMut(&str)) {
        let partial = mem::take(&mut self.partial);
        let text = String::from_utf8_lossy(&partial);
        line(text.strip_suffix('\r').unwrap_or(&text));
    }

    /// Emits a part of a line that is too long, and keeps the first bytes of a character that the cut would split.
    fn emit_part(&mut self, line: &mut impl FnMut(&str)) {
        // A character has at most four bytes, so an incomplete one is among the last three.
        let cut = match std::str::from_utf8(&self.partial[self.partial.len() - 4..]) {
            Ok(_) => 0,
            // Other errors mean that the bytes are invalid wherever the cut is.
            Err(_) => {
                (1..=3).find(|kept| is_incomplete(&self.partial[self.partial.len() - kept..])).unwrap_or(0)
            }
        };
        let rest = self.partial.split_off(self.partial.len() - cut);
        line(&String::from_utf8_lossy(&self.partial));
        self.partial = rest;
    }
}

/// Returns true if `bytes` are the first bytes of a longer character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}
