//! Bytes of an agent's output into lines.

use std::mem;

/// The longest line in bytes; what is longer is divided.
pub const LINE_LIMIT_BYTES: usize = 64 * 1024;

/// Divides a stream of bytes into lines of bounded length. Invalid UTF-8 is replaced and never stops it.
///
/// Whatever the cuts between the pieces, the lines are the same, and each byte is looked at once.
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
    begun: Vec<u8>,
}

impl LogStream {
    /// Begins a stream.
    pub fn new() -> LogStream {
        LogStream::default()
    }

    /// Takes the next bytes and gives each line that is complete, without its end.
    pub fn push(&mut self, mut bytes: &[u8], mut line: impl FnMut(&str)) {
        while !bytes.is_empty() {
            let room = LINE_LIMIT_BYTES - self.begun.len();
            let window = &bytes[..bytes.len().min(room)];
            match window.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.begun.extend_from_slice(&bytes[..end]);
                    self.give(&mut line);
                    bytes = &bytes[end + 1..];
                }
                None => {
                    self.begun.extend_from_slice(window);
                    bytes = &bytes[window.len()..];
                    if self.begun.len() == LINE_LIMIT_BYTES {
                        self.give_divided(&mut line);
                    }
                }
            }
        }
    }

    /// Gives what is left when the stream has ended.
    pub fn finish(mut self, mut line: impl FnMut(&str)) {
        if !self.begun.is_empty() {
            self.give(&mut line);
        }
    }

    fn give(&mut self, line: &mut impl FnMut(&str)) {
        let begun = mem::take(&mut self.begun);
        let text = String::from_utf8_lossy(&begun);
        line(text.strip_suffix('\r').unwrap_or(&text));
    }

    /// Gives a part of a line that is too long, and keeps a character that it would cut.
    fn give_divided(&mut self, line: &mut impl FnMut(&str)) {
        let cut = match std::str::from_utf8(&self.begun[self.begun.len() - 4..]) {
            Ok(_) => 0,
            // Up to three bytes at the end may be the beginning of a character; other errors are just invalid.
            Err(_) => (1..=3).find(|kept| is_incomplete(&self.begun[self.begun.len() - kept..])).unwrap_or(0),
        };
        let rest = self.begun.split_off(self.begun.len() - cut);
        line(&String::from_utf8_lossy(&self.begun));
        self.begun = rest;
    }
}

/// Whether these bytes begin a character that needs more bytes.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}
