//! Reading a command's two output streams together.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::launcher::capture::{Captured, HeadTail};
use crate::launcher::spool::Spool;

/// The most bytes read at once: a pipe's capacity.
const BUFFER_BYTES: usize = 64 * 1024;

/// One of a command's two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Watches the output of a command as it comes.
///
/// It is called on the thread that waits for the command and must not block: a command whose output is not drained
/// stalls.
pub trait OutputObserver {
    /// Takes the next available bytes of a stream.
    fn output(&mut self, stream: OutputStream, bytes: &[u8]);
}

impl<F: FnMut(OutputStream, &[u8])> OutputObserver for F {
    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        self(stream, bytes);
    }
}

/// Both streams, and the output kept of them so far.
#[derive(Debug)]
pub(crate) struct Drain {
    stdout: Stream,
    stderr: Stream,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Stream {
    pipe: OwnedFd,
    kept: HeadTail,
    is_finished: bool,
}

impl Drain {
    /// Takes the non-blocking reading ends, and keeps at most `limit_bytes` of each stream.
    pub(crate) fn new(stdout: OwnedFd, stderr: OwnedFd, limit_bytes: usize) -> Drain {
        let stream = |pipe| Stream { pipe, kept: HeadTail::new(limit_bytes), is_finished: false };
        Drain { stdout: stream(stdout), stderr: stream(stderr), buffer: Vec::new() }
    }

    /// Checks whether both streams have ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.stdout.is_finished && self.stderr.is_finished
    }

    /// Returns the stream's pipe until its end; polling an ended pipe would return at once, forever.
    pub(crate) fn pipe(&self, stream: OutputStream) -> Option<BorrowedFd<'_>> {
        let stream = match stream {
            OutputStream::Stdout => &self.stdout,
            OutputStream::Stderr => &self.stderr,
        };
        (!stream.is_finished).then_some(stream.pipe.as_fd())
    }

    /// Reads once, so that the other stream and the deadline have their turn however fast this one flows.
    pub(crate) fn read(
        &mut self,
        stream: OutputStream,
        observer: &mut dyn OutputObserver,
        spool: Option<&mut Spool>,
    ) {
        self.buffer.resize(BUFFER_BYTES, 0);
        let source = match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        match rustix::io::read(&source.pipe, &mut *self.buffer) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => source.is_finished = true,
            Ok(length) => {
                let bytes = &self.buffer[..length];
                source.kept.push(bytes);
                if let Some(spool) = spool {
                    spool.push(bytes);
                }
                observer.output(stream, bytes);
            }
        }
    }

    /// Takes what was kept of standard output and of standard error.
    pub(crate) fn take(&mut self) -> (Captured, Captured) {
        let take = |stream: &mut Stream| std::mem::replace(&mut stream.kept, HeadTail::new(0)).finish();
        (take(&mut self.stdout), take(&mut self.stderr))
    }
}
