//! Bytes between two connections, both ways, each way with an end of its own.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Bytes that are held of one way at most.
///
/// Twice as many are not faster. Moving bytes in the kernel, through a pipe by `splice`, takes twice the time on loopback, where
/// they come in small pieces; `benches/relay.rs` measures it.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads and writes of one way before the other one has its turn.
const TURNS: usize = 16;

/// A silence after which the buffers of a connection are given back.
const IDLE: Duration = Duration::from_secs(1);

/// Bytes on their way from one connection to the other.
struct Way<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    buffer: Vec<u8>,
    /// The bytes of the buffer that have been read and not written.
    held: Range<usize>,
    /// True after the last byte of `from`.
    is_ended: bool,
    /// True after the end has been passed on.
    is_closed: bool,
}

/// Relays until both ways have ended, or one fails. `first` are bytes that were read before: of `inside`, and of `outside`.
///
/// If one way has ended and the other one is silent for `half_closed`, the connection ends.
pub(crate) fn relay(
    inside: &TcpStream,
    outside: &TcpStream,
    first: [Vec<u8>; 2],
    half_closed: Duration,
) -> io::Result<()> {
    for stream in [inside, outside] {
        stream.set_nonblocking(true)?;
        // Bytes were whole writes where they came from; waiting for more only delays them.
        stream.set_nodelay(true)?;
    }
    let [from_inside, from_outside] = first;
    let mut ways = [Way::new(inside, outside, from_inside), Way::new(outside, inside, from_outside)];
    loop {
        let mut is_waiting = true;
        for way in &mut ways {
            is_waiting &= way.advance()?;
        }
        if ways.iter().all(|way| way.is_closed) {
            return Ok(());
        }
        if is_waiting && !wait(&ways, IDLE)? {
            ways.iter_mut().for_each(Way::release);
            let limit = if ways.iter().any(|way| way.is_closed) { half_closed } else { Duration::MAX };
            if !wait(&ways, limit)? {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Waits until a way can advance; false if none could for too long.
fn wait(ways: &[Way<'_>; 2], limit: Duration) -> io::Result<bool> {
    let mut descriptors: Vec<PollFd<'_>> = ways.iter().filter_map(Way::awaited).collect();
    // A limit that the system cannot count is none.
    match poll(&mut descriptors, Timespec::try_from(limit).ok().as_ref()) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

impl<'a> Way<'a> {
    fn new(from: &'a TcpStream, to: &'a TcpStream, first: Vec<u8>) -> Way<'a> {
        let held = 0..first.len();
        Way { from, to, buffer: first, held, is_ended: false, is_closed: false }
    }

    /// Moves bytes until one side makes it wait, which is true, or it is the other way's turn.
    fn advance(&mut self) -> io::Result<bool> {
        for _ in 0..TURNS {
            if self.is_closed {
                return Ok(true);
            }
            let moved = if self.held.is_empty() { self.read_more() } else { self.write_on() };
            match moved {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn read_more(&mut self) -> io::Result<()> {
        if !self.is_ended {
            if self.buffer.len() != BUFFER_BYTES {
                self.buffer = vec![0; BUFFER_BYTES];
            }
            let count = self.from.read(&mut self.buffer)?;
            self.held = 0..count;
            self.is_ended = count == 0;
        }
        if self.is_ended {
            self.to.shutdown(Shutdown::Write)?;
            self.is_closed = true;
        }
        Ok(())
    }

    fn write_on(&mut self) -> io::Result<()> {
        match self.to.write(&self.buffer[self.held.clone()])? {
            0 => Err(ErrorKind::WriteZero.into()),
            count => {
                self.held.start += count;
                Ok(())
            }
        }
    }

    /// Gives the buffer back if it holds nothing.
    fn release(&mut self) {
        if self.held.is_empty() {
            self.buffer = Vec::new();
        }
    }

    /// Returns the event that lets it advance.
    fn awaited(&self) -> Option<PollFd<'a>> {
        match (self.is_closed, self.held.is_empty()) {
            (true, _) => None,
            (false, true) => Some(PollFd::new(self.from, PollFlags::IN)),
            (false, false) => Some(PollFd::new(self.to, PollFlags::OUT)),
        }
    }
}
