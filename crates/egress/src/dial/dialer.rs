//! All connections of one process: bounded threads, and a bounded queue before them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::connection::{self, Connection};
use super::grant::Scope;
use super::outside::Outside;
use super::proxy::{Proxy, ProxyError};
use super::refused::Fault;

/// Bytes of a connection's stack: it holds no buffer, and calls nothing that needs more.
const STACK_BYTES: usize = 512 * 1024;

/// Bounds of all connections of a dialer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialLimits {
    /// Connections at one time.
    pub open: usize,
    /// Connections that wait until another one ends.
    pub waiting: usize,
    /// The time for the first message of a TLS connection.
    pub greeting: Duration,
    /// The time for looking up a name, connecting, and an answer of a proxy.
    pub connecting: Duration,
    /// The silence after which a connection of which one side has ended is closed.
    pub half_closed: Duration,
}

impl Default for DialLimits {
    /// 1,024 connections, 1,024 that wait, 10 s for a greeting, 20 s for connecting, 5 minutes of silence.
    fn default() -> DialLimits {
        DialLimits {
            open: 1024,
            waiting: 1024,
            greeting: Duration::from_secs(10),
            connecting: Duration::from_secs(20),
            half_closed: Duration::from_secs(300),
        }
    }
}

/// Makes connections in the name of commands. Clones share bounds.
#[derive(Clone)]
pub struct Dialer {
    pub(super) shared: Arc<Shared>,
}

/// Everything that connections share.
pub(crate) struct Shared {
    pub(crate) limits: DialLimits,
    pub(crate) outside: Box<dyn Outside>,
    pub(crate) proxy: Result<Option<Proxy>, ProxyError>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    running: usize,
    waiting: VecDeque<Connection>,
}

impl Dialer {
    /// Makes a dialer. With a proxy that cannot be used, every connection that would go through it is refused.
    #[must_use]
    pub fn new(
        limits: DialLimits,
        outside: impl Outside + 'static,
        proxy: Result<Option<Proxy>, ProxyError>,
    ) -> Dialer {
        let outside = Box::new(outside);
        Dialer { shared: Arc::new(Shared { limits, outside, proxy, threads: Mutex::default() }) }
    }

    /// Starts a connection, or has it wait.
    pub(super) fn submit(&self, connection: Connection) {
        let limits = self.shared.limits;
        let mut threads = self.shared.lock();
        if threads.running < limits.open {
            threads.running += 1;
            drop(threads);
            self.spawn(connection);
        } else if threads.waiting.len() < limits.waiting {
            threads.waiting.push_back(connection);
        } else {
            drop(threads);
            connection.refuse(&Fault::Busy { open: limits.open, waiting: limits.waiting });
        }
    }

    /// Drops the waiting connections of a scope that has ended.
    pub(super) fn forget(&self, scope: &Arc<Scope>) {
        self.shared.lock().waiting.retain(|connection| !Arc::ptr_eq(&connection.scope, scope));
    }

    fn spawn(&self, connection: Connection) {
        let shared = Arc::clone(&self.shared);
        let refusable = connection.refusable();
        let builder = thread::Builder::new().name("egress".to_owned()).stack_size(STACK_BYTES);
        let spawned = builder.spawn(move || {
            let mut next = Some(connection);
            while let Some(connection) = next {
                connection::run(&shared, connection);
                next = shared.next();
            }
        });
        if spawned.is_err() {
            refusable.refuse(&Fault::NoThread);
            self.shared.lock().running -= 1;
        }
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection that a thread carries out next; without one the thread ends.
    fn next(&self) -> Option<Connection> {
        let mut threads = self.lock();
        let next = threads.waiting.pop_front();
        if next.is_none() {
            threads.running -= 1;
        }
        next
    }
}
