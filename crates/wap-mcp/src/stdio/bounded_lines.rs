//! Limits lines of JSON to the number of values that a request can use.
//!
//! The SDK parses a line before any other code sees it, and a short value takes many times its length in memory. So a line with
//! too many values is truncated after the last allowed one. The remainder is not valid JSON, so the SDK ignores it, and the
//! client is answered here.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use wap_core::JsonValues;

/// A reader that drops the rest of a line with too many values, and calls `on_cut` for each such line.
pub(crate) struct BoundedLines<R, F> {
    input: R,
    on_cut: F,
    values: JsonValues,
    is_cut: bool,
}

impl<R, F: FnMut()> BoundedLines<R, F> {
    pub(crate) fn new(input: R, on_cut: F) -> BoundedLines<R, F> {
        BoundedLines { input, on_cut, values: JsonValues::default(), is_cut: false }
    }

    /// Moves the kept bytes to the beginning of `bytes` and returns their number.
    fn keep(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for index in 0..bytes.len() {
            let byte = bytes[index];
            if byte == b'\n' {
                (self.values, self.is_cut) = (JsonValues::default(), false);
            } else if self.is_cut {
                continue;
            } else if !self.values.take(byte) {
                self.is_cut = true;
                (self.on_cut)();
                continue;
            }
            bytes[kept] = byte;
            kept += 1;
        }
        kept
    }
}

impl<R: AsyncRead + Unpin, F: FnMut() + Unpin> AsyncRead for BoundedLines<R, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        loop {
            ready!(Pin::new(&mut self.input).poll_read(context, buffer))?;
            let read = buffer.filled().len() - before;
            let kept = self.keep(&mut buffer.filled_mut()[before..]);
            buffer.set_filled(before + kept);
            // To the caller, no bytes mean the end of the input, so a read of which none are kept is repeated.
            if kept > 0 || read == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::BoundedLines;

    /// Returns the remainder of a text, and the number of truncated lines.
    fn read(text: &str) -> (String, usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
        let mut kept = String::new();
        let mut cut = 0;
        let mut lines = BoundedLines::new(text.as_bytes(), || cut += 1);
        runtime.block_on(lines.read_to_string(&mut kept)).expect("memory can be read");
        (kept, cut)
    }

    #[test]
    fn only_the_rest_of_a_line_with_too_many_values_is_left_out() {
        let large = format!("{{\"a\":[{}1]}}", "1,".repeat(300_000));
        let (read, cut) = read(&format!("[1,2]\n{large}\n{{\"b\":\"{}\"}}\n", ",".repeat(300_000)));
        let lines: Vec<&str> = read.split('\n').collect();
        assert_eq!((lines.len(), lines[0], lines[2].len(), cut), (4, "[1,2]", 300_008, 1));
        assert!(large.starts_with(lines[1]) && lines[1].len() < 300_000, "{} bytes", lines[1].len());
    }
}
