//! The machine's own resolver and sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::outside::{Outside, ResolveError};
use super::system_names;

/// The most look-ups at one time. A look-up cannot be interrupted: if it is abandoned, it holds its thread until the system's
/// resolver gives up, too.
const MOST_LOOKUPS: usize = 64;

/// The shortest connection timeout; the system refuses zero.
const SHORTEST: Duration = Duration::from_millis(1);

/// The machine's own resolver and sockets.
#[derive(Debug, Default)]
pub struct SystemOutside {
    lookups: Arc<Lookups>,
}

/// The number of look-ups under way.
#[derive(Debug, Default)]
struct Lookups {
    running: Mutex<usize>,
    ended: Condvar,
}

/// One look-up under way.
struct Lookup(Arc<Lookups>);

impl Lookups {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another look-up may begin.
    fn begin(lookups: &Arc<Lookups>, deadline: Instant) -> Option<Lookup> {
        let left = deadline.saturating_duration_since(Instant::now());
        let is_full = |running: &mut usize| *running >= MOST_LOOKUPS;
        let waited = lookups.ended.wait_timeout_while(lookups.lock(), left, is_full);
        let (mut running, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return None;
        }
        *running += 1;
        Some(Lookup(Arc::clone(lookups)))
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.ended.notify_one();
    }
}

impl Outside for SystemOutside {
    fn resolve(&self, name: &str, deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        let lookup = Lookups::begin(&self.lookups, deadline).ok_or(ResolveError::TimedOut)?;
        let (answer, answers) = mpsc::channel();
        let name = name.to_owned();
        let spawned = thread::Builder::new().name("egress-lookup".to_owned()).spawn(move || {
            let _lookup = lookup;
            // A receiver that is gone has given up.
            let _ = answer.send(system_names::addresses(&name));
        });
        if spawned.is_err() {
            return Err(ResolveError::TimedOut);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let answer = answers.recv_timeout(left).map_err(|_| ResolveError::TimedOut)?;
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in answer.map_err(|_| ResolveError::Unresolved)? {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() { Err(ResolveError::Unresolved) } else { Ok(addresses) }
    }

    fn connect(&self, address: SocketAddr, deadline: Instant) -> io::Result<TcpStream> {
        let left = deadline.saturating_duration_since(Instant::now());
        TcpStream::connect_timeout(&address, left.max(SHORTEST))
    }

    fn is_own(&self, address: IpAddr) -> bool {
        /// Any port: nothing is sent.
        const PORT: u16 = 9;
        let any = match address {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        // The system chooses the source address, which equals the target only for one of its own addresses.
        let chosen = UdpSocket::bind((any, 0)).and_then(|socket| {
            socket.connect((address, PORT))?;
            socket.local_addr()
        });
        chosen.is_ok_and(|chosen| chosen.ip() == address)
    }
}
