//! A stream that fails when the peer does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::meter::{Growing, Meter};

/// A stream that fails if the peer does not read any of the written bytes for a time. It reads no more of incomplete messages
/// than there is memory for.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    meter: Meter,
    /// The wait for memory; `None` while there is some.
    growing: Option<Growing>,
    limit: Duration,
    /// The timer of a blocked write; `None` while the peer reads.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, limit: Duration, meter: Meter) -> WriteTimeout<S> {
        WriteTimeout { stream, meter, growing: None, limit, waiting: None }
    }

    /// Returns the result of a write, or fails if it has taken too long.
    fn limited<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        // Any progress restarts the time: a slow client is served, only a stuck one is not.
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        // A finished timer must not be polled again; reset to now, it gives the next write the same error.
        waiting.as_mut().reset(Instant::now());
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let room = match ready!(this.meter.poll_room(&mut this.growing, context)) {
            Ok(usize::MAX) => return Pin::new(&mut this.stream).poll_read(context, buffer),
            Ok(room) => room.min(buffer.remaining()),
            Err(error) => return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, error))),
        };
        // Read into the start of the unfilled part, as far as the budget allows.
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        let read = Pin::new(&mut this.stream).poll_read(context, &mut part);
        let count = part.filled().len();
        buffer.advance(count);
        this.meter.add(count);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.limited(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.limited(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// Runs a task on a new runtime.
    fn run<T>(task: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime of one thread needs nothing")
            .block_on(task)
    }

    #[test]
    fn a_peer_that_reads_nothing_is_given_up_and_a_slow_one_is_not() {
        run(async {
            let (ours, theirs) = duplex(4);
            let mut ours = WriteTimeout::new(ours, Duration::from_secs(2), Meter::default());
            let written = ours.write_all(b"more than fits").await;
            assert_eq!(written.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
            drop(theirs);
            // Slower than the limit in total, but never that long without progress.
            let (ours, mut theirs) = duplex(1);
            let mut ours = WriteTimeout::new(ours, Duration::from_secs(2), Meter::default());
            let reading = async {
                let mut read = 0;
                while read < 8 {
                    sleep(Duration::from_millis(300)).await;
                    theirs.read_u8().await.expect("something is written");
                    read += 1;
                }
            };
            let (written, ()) = tokio::join!(ours.write_all(b"8 bytes!"), reading);
            written.expect("it is taken in the end");
        });
    }
}
