//! One connection of a command, from its first byte to its end.

use std::io::Read;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// The most pieces of an answer that are discarded when its command has ended.
const MOST_DISCARDED: usize = 256;

/// A connection that a command has opened, and that nothing has been read from.
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
    /// Refuses the connection: the command's side is reset, and a receipt is made.
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
        // A reset says that there is no answer; an orderly end would be one, and an empty one. If it cannot be had, an end is.
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
        // A greeting that ends with its command is not refused, and nothing is after the end of the network.
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
    let connected = route::connect(shared, name, *port, allowed)?;
    let outside = Arc::new(connected.stream);
    if !entry.connect(Arc::clone(&outside)) {
        return Ok(());
    }
    // Machines between the two forget connections that are silent; both ends learn of a machine that is gone.
    let _ = set_socket_keepalive(&outside, true);
    let first = [greeting, connected.first];
    let relayed = relay(accepted, &outside, first, shared.limits.half_closed, &|| entry.note_sent());
    if entry.is_command_running() {
        // A connection that fails in the middle fails for the command, which reports it itself.
        if relayed.is_err() {
            for stream in [accepted, &outside] {
                let _ = set_socket_linger(stream, Some(Duration::ZERO));
            }
        }
    } else if !entry.is_ended() {
        discard_answer(&outside);
    }
    Ok(())
}

/// Reads what has come of an answer: closing a connection with unread bytes would discard those that are being sent.
fn discard_answer(mut outside: &TcpStream) {
    let mut bytes = [0; 16 * 1024];
    for _ in 0..MOST_DISCARDED {
        // The relay has left it so that reads do not wait.
        if !outside.read(&mut bytes).is_ok_and(|count| count > 0) {
            return;
        }
    }
}
