//! Lines on standard error, which may be a pipe that its reader has abandoned.
//!
//! A program that starts `agentd` as its server may give it a pipe that it never reads. When that is full, a write would
//! hold its thread for good, and a call of the model with it.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A pipe that has room takes this many bytes at once.
const AT_ONCE_BYTES: usize = 4096;

/// The time that a slow reader has, in seconds.
const GRACE_S: i64 = 1;

/// The number of lines left out since the last one that was written.
static LEFT_OUT: Mutex<u64> = Mutex::new(0);

/// Writes a line, or leaves it out if the pipe is full. The next line that is written then says how many are missing.
pub(crate) fn write_line(text: &str) {
    let mut left_out = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut output = io::stderr().lock();
    // A reader that was too slow once is not waited for until it reads again.
    let grace_s = if *left_out == 0 { GRACE_S } else { 0 };
    if !has_room(&output, grace_s) {
        *left_out += 1;
        return;
    }
    let missing = match *left_out {
        0 => String::new(),
        count => format!("({count} lines were left out: their reader was too slow)\n"),
    };
    *left_out = 0;
    for piece in format!("{missing}{text}\n").as_bytes().chunks(AT_ONCE_BYTES) {
        if !has_room(&output, GRACE_S) || output.write_all(piece).is_err() {
            *left_out = 1;
            return;
        }
    }
}

/// Checks whether a write would not wait, after at most this time. Files and terminals always have room; a person may have
/// stopped a terminal to read it.
fn has_room(output: &(impl AsFd + IsTerminal), grace_s: i64) -> bool {
    if output.is_terminal() {
        return true;
    }
    let mut watched = [PollFd::new(output, PollFlags::OUT)];
    // An output that cannot be asked is written to. A signal during the wait says nothing about it.
    !matches!(poll(&mut watched, Some(&Timespec { tv_sec: grace_s, tv_nsec: 0 })), Ok(0) | Err(Errno::INTR))
}
