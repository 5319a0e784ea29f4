//! Relays bytes between two connections, both ways; each way ends separately.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The size of one way's buffer in bytes.
///
/// Twice as many are not faster. Moving bytes in the kernel, through a pipe by `splice`, takes twice the time on loopback, where
/// they come in small pieces; `benches/relay.rs` measures it.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads and writes of one way before the other one has its turn.
const TURNS: usize = 16;

/// A silence after which the buffers of a connection are freed.
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

/// Relays until both ways have ended. `first` are bytes already read: of `inside`, and of `outside`. `note_sent` is called
/// when everything that `inside` has sent is passed on.
///
/// When one side fails, the bytes that it had sent are passed on before the fault is returned. If one way has ended and the
/// other is silent for `half_closed`, the connection ends.
pub(crate) fn relay(
    inside: &TcpStream,
    outside: &TcpStream,
    first: [Vec<u8>; 2],
    half_closed: Duration,
    note_sent: &dyn Fn(),
) -> Result<(), RelayFault> {
    for stream in [inside, outside] {
        stream.set_nonblocking(true)?;
        // Bytes were complete writes at their source; waiting for more only delays them.
        stream.set_nodelay(true)?;
    }
    let [from_inside, from_outside] = first;
    let mut ways = [Way::new(inside, outside, from_inside), Way::new(outside, inside, from_outside)];
    let mut failure = None;
    let mut is_sent = false;
    loop {
        let mut is_waiting = true;
        for index in [0, 1] {
            match ways[index].advance() {
                Ok(waits) => is_waiting &= waits,
                Err(fault) => {
                    is_waiting = false;
                    let is_of_inside = fault.is_of_source == (index == 0);
                    failure.get_or_insert(RelayFault { is_of_inside });
                    ways[index].is_closed = true;
                    // A side that cannot be read takes nothing either; a side that takes nothing may have sent something before.
                    if fault.is_of_source {
                        ways[1 - index].is_closed = true;
                    }
                }
            }
        }
        if ways[0].is_closed && !is_sent {
            is_sent = true;
            note_sent();
        }
        if ways.iter().all(|way| way.is_closed) {
            return failure.map_or(Ok(()), Err);
        }
        if is_waiting && !wait(&mut ways, IDLE)? {
            ways.iter_mut().for_each(Way::release);
            let limit = if ways.iter().any(|way| way.is_closed) { half_closed } else { Duration::MAX };
            if !wait(&mut ways, limit)? {
                return Err(io::Error::from(ErrorKind::TimedOut).into());
            }
        }
    }
}

/// The premature end of a relay.
///
/// The system's error is left out: the command receives the same error and reports it itself.
pub(crate) struct RelayFault {
    /// True if the side of the command has failed.
    pub(crate) is_of_inside: bool,
}

impl From<io::Error> for RelayFault {
    /// Returns the fault of a connection that is silent, or cannot be polled: of neither side.
    fn from(_: io::Error) -> RelayFault {
        RelayFault { is_of_inside: false }
    }
}

/// The failure of one side of a connection.
struct WayFault {
    /// True for the side that bytes come from.
    is_of_source: bool,
}

/// Waits until a way can advance; false if none could for too long. A way back to a side that is gone is closed.
fn wait(ways: &mut [Way<'_>; 2], limit: Duration) -> io::Result<bool> {
    let mut descriptors: Vec<PollFd<'_>> = ways.iter().filter_map(Way::awaited).collect();
    let is_sent = ways[0].is_closed;
    if is_sent {
        descriptors.push(PollFd::new(ways[0].from, PollFlags::empty()));
    }
    // A limit beyond the system's range is no limit.
    let count = match poll(&mut descriptors, Timespec::try_from(limit).ok().as_ref()) {
        Ok(count) => count,
        Err(rustix::io::Errno::INTR) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    let is_gone =
        descriptors.last().is_some_and(|inside| inside.revents().intersects(PollFlags::HUP | PollFlags::ERR));
    if is_sent && is_gone {
        ways[1].is_closed = true;
    }
    Ok(count > 0)
}

impl<'a> Way<'a> {
    fn new(from: &'a TcpStream, to: &'a TcpStream, first: Vec<u8>) -> Way<'a> {
        let held = 0..first.len();
        Way { from, to, buffer: first, held, is_ended: false, is_closed: false }
    }

    /// Moves bytes until one side would block, which returns true, or it is the other way's turn.
    fn advance(&mut self) -> Result<bool, WayFault> {
        for _ in 0..TURNS {
            if self.is_closed {
                return Ok(true);
            }
            let is_of_source = self.held.is_empty() && !self.is_ended;
            let moved = match (self.held.is_empty(), self.is_ended) {
                (true, false) => self.read_more(),
                (true, true) => self.close(),
                (false, _) => self.write_on(),
            };
            match moved {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(WayFault { is_of_source }),
            }
        }
        Ok(false)
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.buffer.len() != BUFFER_BYTES {
            self.buffer = vec![0; BUFFER_BYTES];
        }
        let count = self.from.read(&mut self.buffer)?;
        self.held = 0..count;
        self.is_ended = count == 0;
        Ok(())
    }

    /// Passes the end on.
    fn close(&mut self) -> io::Result<()> {
        self.to.shutdown(Shutdown::Write)?;
        self.is_closed = true;
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

    /// Frees the buffer if it is empty.
    fn release(&mut self) {
        if self.held.is_empty() {
            self.buffer = Vec::new();
        }
    }

    /// Returns the event that it waits for.
    fn awaited(&self) -> Option<PollFd<'a>> {
        match (self.is_closed, self.held.is_empty()) {
            (true, _) => None,
            (false, true) => Some(PollFd::new(self.from, PollFlags::IN)),
            (false, false) => Some(PollFd::new(self.to, PollFlags::OUT)),
        }
    }
}
