//! Renames requests of the older era about tasks in lines of JSON.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::older_messages::{MOST_BYTES, rename_older};

/// The size of one read.
const CHUNK_BYTES: usize = 64 * 1_024;

/// A reader that renames such requests. A line is buffered until it is complete; one that is too long to be about a task is
/// forwarded as it arrives.
pub(crate) struct OlderLines<R> {
    input: R,
    chunk: Box<[u8]>,
    line: Vec<u8>,
    /// True in the middle of a line that is forwarded as it arrives.
    is_long: bool,
    ready: Vec<u8>,
    /// The position in `ready` up to which the caller has read.
    given: usize,
    is_over: bool,
}

impl<R> OlderLines<R> {
    pub(crate) fn new(input: R) -> OlderLines<R> {
        let chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
        OlderLines {
            input,
            chunk,
            line: Vec::new(),
            is_long: false,
            ready: Vec::new(),
            given: 0,
            is_over: false,
        }
    }

    /// Removes the first `count` bytes of the chunk.
    fn take(&mut self, count: usize) {
        for piece in self.chunk[..count].split_inclusive(|byte| *byte == b'\n') {
            let is_end = piece.ends_with(b"\n");
            if self.is_long {
                self.ready.extend_from_slice(piece);
            } else {
                self.line.extend_from_slice(piece);
                if is_end {
                    let body = self.line.trim_ascii_end();
                    self.ready.extend_from_slice(&rename_older(body));
                    self.ready.push(b'\n');
                    self.line.clear();
                } else if self.line.len() > MOST_BYTES {
                    self.ready.append(&mut self.line);
                    self.is_long = true;
                }
            }
            self.is_long &= !is_end;
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for OlderLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.given == this.ready.len() && !this.is_over {
            this.ready.clear();
            this.given = 0;
            let mut read = ReadBuf::new(&mut this.chunk);
            ready!(Pin::new(&mut this.input).poll_read(context, &mut read))?;
            let count = read.filled().len();
            if count == 0 {
                this.is_over = true;
                // Forward an incomplete last line unchanged.
                this.ready.append(&mut this.line);
            } else {
                this.take(count);
            }
        }
        let count = buffer.remaining().min(this.ready.len() - this.given);
        buffer.put_slice(&this.ready[this.given..this.given + count]);
        this.given += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt;

    use super::OlderLines;

    fn read(text: &[u8], cut: usize) -> Vec<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
        let (first, rest) = text.split_at(cut.min(text.len()));
        let mut kept = Vec::new();
        runtime
            .block_on(OlderLines::new(first.chain(rest)).read_to_end(&mut kept))
            .expect("memory can be read");
        kept
    }

    proptest! {
        #[test]
        fn the_lines_are_the_same_for_every_split_of_the_input(
            words in prop::collection::vec("[a-z{}\"]{0,9}", 0..20),
            end in any::<bool>(),
            cut in 0_usize..200,
        ) {
            let mut text = words.join("\n");
            if end {
                text.push('\n');
            }
            prop_assert_eq!(read(text.as_bytes(), cut), text.as_bytes());
        }
    }

    #[test]
    fn a_long_line_is_forwarded_and_the_next_one_examined() {
        let text = format!("{}\n{{\"method\":\"tasks/get\",\"params\":{{}}}}\n", "x".repeat(3 << 20));
        let read = String::from_utf8(read(text.as_bytes(), 1_000)).expect("it is text");
        assert!(read.starts_with(&text[..3 << 20]));
        assert!(read.ends_with("\n{\"method\":\"agentd/getTask\",\"params\":{}}\n"), "{}", &read[3 << 20..]);
    }
}
