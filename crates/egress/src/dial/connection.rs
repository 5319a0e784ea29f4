//! One connection of a command, from its first byte to its end.

use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{set_socket_keepalive, set_socket_linger};

use super::dialer::Shared;
use super::greeting::{self, GreetingFault};
use super::refused::Fault;
use super::relay::relay;
use super::route;
use super::scope::{Entry, Scope};
use crate::allow::HostName;

/// The port at which connections begin with TLS.
const TLS_PORT: u16 = 443;

/// A connection that a command has opened, and of which nothing has been read.
pub(crate) struct Connection {
    pub(crate) name: HostName,
    pub(crate) port: u16,
    pub(crate) accepted: Arc<TcpStream>,
    pub(crate) entry: Entry,
}

/// The parts of a connection that a refusal needs after the connection was handed on.
pub(crate) struct Refusable {
    name: HostName,
    port: u16,
    accepted: Arc<TcpStream>,
    scope: Arc<Scope>,
}

impl Connection {
    /// Refuses the connection: resets the command's side, and reports a receipt.
    pub(crate) fn refuse(self, fault: &Fault) {
        self.refusable().refuse(fault);
    }

    pub(crate) fn refusable(&self) -> Refusable {
        Refusable {
            name: self.name.clone(),
            port: self.port,
            accepted: Arc::clone(&self.accepted),
            scope: Arc::clone(self.entry.scope()),
        }
    }
}

impl Refusable {
    pub(crate) fn refuse(self, fault: &Fault) {
        // A reset signals that there is no answer; an orderly end would look like an empty one. If it fails, the connection just ends.
        let _ = set_socket_linger(&self.accepted, Some(Duration::ZERO));
        self.scope.report(fault.refusal(&self.name, self.port));
    }
}

/// Carries out a connection.
pub(crate) fn run(shared: &Shared, connection: Connection) {
    if connection.entry.is_ended() {
        return;
    }
    if let Err(fault) = carry(shared, &connection) {
        let is_cut_off =
            matches!(fault, Fault::Greeting(GreetingFault::Incomplete | GreetingFault::TimedOut));
        let entry = &connection.entry;
        // A greeting that ends with its command is not a refusal, nor is any fault after the end of the network.
        if entry.is_command_running() || !(is_cut_off || entry.is_ended()) {
            connection.refuse(&fault);
        }
    }
}

fn carry(shared: &Shared, connection: &Connection) -> Result<(), Fault> {
    let Connection { name, port, accepted, entry } = connection;
    let allowed = entry.scope().list.find(name, *port).ok_or(Fault::NotAllowed)?;
    let mut greeting = Vec::new();
    if *port == TLS_PORT {
        greeting = greeting::read(accepted, name, Instant::now() + shared.limits.greeting)?;
        entry.hold_bytes();
    }
    let connected = route::connect(shared, entry.scope(), name, *port, allowed)?;
    let outside = Arc::new(connected.stream);
    if !entry.connect(Arc::clone(&outside)) {
        return Ok(());
    }
    // Machines in between forget silent connections; keep-alives also detect a peer that is gone.
    let _ = set_socket_keepalive(&outside, true);
    let first = [greeting, connected.first];
    let relayed = relay(accepted, &outside, first, shared.limits.half_closed, &|| entry.note_sent());
    let is_running = match &relayed {
        // A command that ends with an unread answer resets its connection, and its end is reported a moment later.
        Err(fault) if fault.is_of_inside => {
            !entry.wait_for_end_of_command(Instant::now() + shared.limits.draining)
        }
        _ => entry.is_command_running(),
    };
    if is_running {
        // If a connection fails midway, the command reports the failure itself.
        if relayed.is_err() {
            for stream in [accepted, &outside] {
                let _ = set_socket_linger(stream, Some(Duration::ZERO));
            }
        }
    } else {
        // The command has ended, so a failure does not matter to it. If its side was reset, its end is still to be passed on.
        let _ = outside.shutdown(Shutdown::Write);
        let _ = discard_answer(&outside, Instant::now() + shared.limits.draining);
    }
    Ok(())
}

/// Reads an answer to its end, at most until the deadline: closing a connection with unread or pending bytes would discard
/// data that is still being sent. A connection that was shut down is at its end.
fn discard_answer(mut outside: &TcpStream, deadline: Instant) -> io::Result<()> {
    let mut bytes = [0; 16 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        match outside.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            // The relay has made the stream non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut awaited = [PollFd::new(outside, PollFlags::IN)];
                // A limit beyond the system's range is no limit.
                match poll(&mut awaited, Timespec::try_from(left).ok().as_ref()) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
