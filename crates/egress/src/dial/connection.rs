//! One connection of a command, from its first byte to its end.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{set_socket_keepalive, set_socket_linger};

use super::dialer::Shared;
use super::grant::Scope;
use super::greeting;
use super::refused::Fault;
use super::relay::relay;
use super::route;
use crate::allow::HostName;

/// The port at which connections begin with TLS.
const TLS_PORT: u16 = 443;

/// A connection that a command has opened, and that nothing has been read from.
pub(crate) struct Connection {
    pub(crate) name: HostName,
    pub(crate) port: u16,
    pub(crate) accepted: Arc<TcpStream>,
    pub(crate) scope: Arc<Scope>,
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
            scope: Arc::clone(&self.scope),
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
    let inside = Arc::clone(&connection.accepted);
    let Some(registered) = connection.scope.register(inside) else { return };
    if let Err(fault) = carry(shared, &connection) {
        // After the end of the command nothing is refused to it.
        if !connection.scope.is_ended() {
            connection.refuse(&fault);
        }
    }
    drop(registered);
}

fn carry(shared: &Shared, connection: &Connection) -> Result<(), Fault> {
    let Connection { name, port, accepted, scope } = connection;
    let allowed = scope.list.find(name, *port).ok_or(Fault::NotAllowed)?;
    let mut greeting = Vec::new();
    if *port == TLS_PORT {
        greeting = greeting::read(accepted, name, Instant::now() + shared.limits.greeting)?;
    }
    let connected = route::connect(shared, name, *port, allowed)?;
    let outside = Arc::new(connected.stream);
    let Some(registered) = scope.register(Arc::clone(&outside)) else { return Ok(()) };
    // Machines between the two forget connections that are silent; both ends learn of a machine that is gone.
    let _ = set_socket_keepalive(&outside, true);
    // A connection that fails in the middle fails for the command, which reports it itself.
    if relay(accepted, &outside, [greeting, connected.first], shared.limits.half_closed).is_err() {
        for stream in [accepted, &outside] {
            let _ = set_socket_linger(stream, Some(Duration::ZERO));
        }
    }
    drop(registered);
    Ok(())
}
