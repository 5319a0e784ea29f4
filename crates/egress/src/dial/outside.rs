//! The machine's network, as far as the dialer uses it.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Instant;

/// Resolves names and connects to addresses, without checking either.
pub trait Outside: Send + Sync {
    /// Returns the addresses of a name, in the order to try them.
    ///
    /// # Errors
    ///
    /// If the name does not resolve by the deadline.
    fn resolve(&self, name: &str, deadline: Instant) -> Result<Vec<IpAddr>, ResolveError>;

    /// Connects to an address by the deadline.
    ///
    /// # Errors
    ///
    /// As the system reports them.
    fn connect(&self, address: SocketAddr, deadline: Instant) -> io::Result<TcpStream>;

    /// Checks whether an address belongs to this machine, whose own servers listen there. A name that leads there is refused like
    /// a name that leads to the loopback interface.
    fn is_own(&self, address: IpAddr) -> bool {
        let _ = address;
        false
    }
}

/// The reason that a name has no addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The resolver knows none.
    #[error("the name does not resolve")]
    Unresolved,
    /// The resolver did not answer in time.
    #[error("looking up the name timed out")]
    TimedOut,
}
