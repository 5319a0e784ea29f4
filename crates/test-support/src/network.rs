//! Addresses on loopback.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

/// A loopback address that refuses connections for as long as this value lives: its port is bound and does not listen, so
/// no server of another test gets it.
#[derive(Debug)]
pub struct RefusingAddress {
    /// The address, `127.0.0.1` with a port of the system's choice.
    pub address: SocketAddr,
    _socket: OwnedFd,
}

impl RefusingAddress {
    /// Binds a port.
    ///
    /// # Panics
    ///
    /// If the system has no free port.
    #[must_use]
    pub fn bind() -> RefusingAddress {
        // `TcpListener` would listen at once, and then the system accepts connections itself.
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
        RefusingAddress { address, _socket: socket }
    }
}
