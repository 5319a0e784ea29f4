//! The full output of a command, written to a file up to a cap.

use std::fs::File;
use std::io::{self, Write};

/// The destination of the full output: both streams, in the order in which their chunks arrived.
#[derive(Debug)]
pub struct Spool {
    file: File,
    limit_bytes: u64,
    written_bytes: u64,
    offered_bytes: u64,
    failure: Option<io::ErrorKind>,
}

/// The contents of a [`Spool`] after the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spooled {
    /// Bytes in the file.
    pub written_bytes: u64,
    /// Bytes that the command printed and that are not in the file, because of the cap or a write error.
    pub omitted_bytes: u64,
    /// The error that stopped writing before the cap, if any.
    pub failure: Option<io::ErrorKind>,
}

impl Spool {
    /// Writes at most `limit_bytes` to `file`, from its current position on.
    pub fn new(file: File, limit_bytes: u64) -> Spool {
        Spool { file, limit_bytes, written_bytes: 0, offered_bytes: 0, failure: None }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.offered_bytes += bytes.len() as u64;
        if self.failure.is_some() {
            return;
        }
        let room = self.limit_bytes - self.written_bytes;
        let kept = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        // A full disk must not end the command: the loss is counted and reported instead.
        match self.file.write_all(kept) {
            Ok(()) => self.written_bytes += kept.len() as u64,
            Err(error) => self.failure = Some(error.kind()),
        }
    }

    pub(crate) fn finish(self) -> Spooled {
        Spooled {
            written_bytes: self.written_bytes,
            omitted_bytes: self.offered_bytes - self.written_bytes,
            failure: self.failure,
        }
    }
}
