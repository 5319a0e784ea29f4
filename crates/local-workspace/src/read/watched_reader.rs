//! Reads a file of any size while watching for cancellation by the caller.

use std::io::{self, Read};
use std::time::Instant;

use wap_core::CancelFlag;

/// A reader that fails as soon as the caller has stopped waiting.
#[derive(Debug)]
pub(crate) struct WatchedReader<'a, R> {
    inner: R,
    cancel: &'a CancelFlag,
    deadline: Option<Instant>,
    stopped: Option<Stop>,
}

/// The reason why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    OutOfTime,
}

impl<'a, R: Read> WatchedReader<'a, R> {
    pub(crate) fn new(inner: R, cancel: &'a CancelFlag, deadline: Option<Instant>) -> WatchedReader<'a, R> {
        WatchedReader { inner, cancel, deadline, stopped: None }
    }

    /// Returns the reason for a stop that is not the file's fault.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }
}

impl<R: Read> Read for WatchedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            self.stopped = Some(Stop::Cancelled);
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stopped = Some(Stop::OutOfTime);
        }
        match self.stopped {
            Some(_) => Err(io::ErrorKind::TimedOut.into()),
            None => self.inner.read(buffer),
        }
    }
}
