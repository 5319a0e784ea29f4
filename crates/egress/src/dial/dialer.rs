//! All connections of one process: bounded threads, and a bounded queue before them.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use super::connection::{self, Connection};
use super::outside::Outside;
use super::proxy::{Proxy, ProxyError};
use super::refused::Fault;
use super::scope::Scope;
use super::system_outside::SystemOutside;

/// Bytes of a connection's stack: it holds no buffers, and its calls need little.
const STACK_BYTES: usize = 512 * 1024;

/// Bounds of all connections of a dialer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialLimits {
    /// Connections at one time.
    pub open: usize,
    /// Connections of one command at one time.
    pub open_per_command: usize,
    /// Connections that wait until another one ends.
    pub waiting: usize,
    /// Connections of one command that wait.
    pub waiting_per_command: usize,
    /// The time for the first message of a TLS connection.
    pub greeting: Duration,
    /// The time to look up a name, connect, and receive a proxy's answer.
    pub connecting: Duration,
    /// The silence after which a half-closed connection is closed.
    pub half_closed: Duration,
    /// The time for the last bytes of a command that has ended, and for its end to be reported after it has reset a connection.
    pub draining: Duration,
}

impl Default for DialLimits {
    /// 1,024 connections, 256 per command, and as many waiting; 10 s for a greeting, 20 s for connecting, 5 minutes of
    /// silence, 1 s for the last bytes.
    fn default() -> DialLimits {
        DialLimits {
            open: 1024,
            open_per_command: 256,
            waiting: 1024,
            waiting_per_command: 256,
            greeting: Duration::from_secs(10),
            connecting: Duration::from_secs(20),
            half_closed: Duration::from_secs(300),
            draining: Duration::from_secs(1),
        }
    }
}

/// Makes connections on behalf of commands. Clones share limits.
#[derive(Clone)]
pub struct Dialer {
    pub(super) shared: Arc<Shared>,
}

/// The state that connections share.
pub(crate) struct Shared {
    pub(crate) limits: DialLimits,
    pub(crate) outside: Box<dyn Outside>,
    pub(crate) proxy: Result<Option<Proxy>, ProxyError>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    running: usize,
    /// The running connections of each command, by the address of its scope.
    of_command: HashMap<usize, usize>,
    waiting: VecDeque<Connection>,
}

impl Threads {
    /// Returns the number of running connections of a command.
    fn running_of(&self, scope: &Arc<Scope>) -> usize {
        self.of_command.get(&address(scope)).copied().unwrap_or(0)
    }

    fn waiting_of(&self, scope: &Arc<Scope>) -> usize {
        self.waiting.iter().filter(|connection| Arc::ptr_eq(connection.entry.scope(), scope)).count()
    }

    fn begin(&mut self, scope: &Arc<Scope>) {
        self.running += 1;
        *self.of_command.entry(address(scope)).or_default() += 1;
    }

    fn end(&mut self, scope: &Arc<Scope>) {
        self.running -= 1;
        if let Some(count) = self.of_command.get_mut(&address(scope)) {
            *count -= 1;
            if *count == 0 {
                self.of_command.remove(&address(scope));
            }
        }
    }

    /// Takes the longest waiting connection of the command with the fewest running ones, if that may have another.
    fn take_waiting(&mut self, open_per_command: usize) -> Option<Connection> {
        let running = |index: &usize| self.running_of(self.waiting[*index].entry.scope());
        let next = (0..self.waiting.len()).min_by_key(running)?;
        if running(&next) < open_per_command { self.waiting.remove(next) } else { None }
    }
}

/// Returns a number that is unique among live scopes.
fn address(scope: &Arc<Scope>) -> usize {
    Arc::as_ptr(scope).addr()
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

    /// Returns the dialer of this process, whose limits apply to all networks of all commands together. It has the default
    /// limits, the machine's network, and the proxy of the environment.
    #[must_use]
    pub fn of_process() -> Dialer {
        static DIALER: OnceLock<Dialer> = OnceLock::new();
        let make = || {
            let proxy = Proxy::from_environment(|name| std::env::var_os(name));
            Dialer::new(DialLimits::default(), SystemOutside::default(), proxy)
        };
        DIALER.get_or_init(make).clone()
    }

    /// Checks whether two dialers share their limits.
    #[must_use]
    pub fn is_same(&self, other: &Dialer) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Starts or queues a connection.
    pub(super) fn submit(&self, connection: Connection) {
        let limits = self.shared.limits;
        let mut threads = self.shared.lock();
        let scope = connection.entry.scope();
        let is_command_full = threads.running_of(scope) >= limits.open_per_command;
        if threads.running < limits.open && !is_command_full {
            threads.begin(scope);
            drop(threads);
            self.spawn(connection);
        } else if threads.waiting_of(scope) >= limits.waiting_per_command {
            drop(threads);
            let (open, waiting) = (limits.open_per_command, limits.waiting_per_command);
            connection.refuse(&Fault::CommandBusy { open, waiting });
        } else if threads.waiting.len() >= limits.waiting {
            drop(threads);
            connection.refuse(&Fault::Busy { open: limits.open, waiting: limits.waiting });
        } else {
            threads.waiting.push_back(connection);
        }
    }

    /// Drops the waiting connections of a scope that has ended.
    pub(super) fn forget(&self, scope: &Arc<Scope>) {
        let is_of_scope = |connection: &Connection| Arc::ptr_eq(connection.entry.scope(), scope);
        let mut threads = self.shared.lock();
        let (forgotten, kept) = threads.waiting.drain(..).partition(is_of_scope);
        threads.waiting = kept;
        drop(threads);
        // Dropping them locks their scope.
        drop::<VecDeque<Connection>>(forgotten);
    }

    fn spawn(&self, connection: Connection) {
        let shared = Arc::clone(&self.shared);
        let (refusable, scope) = (connection.refusable(), Arc::clone(connection.entry.scope()));
        let builder = thread::Builder::new().name("egress".to_owned()).stack_size(STACK_BYTES);
        let spawned = builder.spawn(move || {
            let mut next = Some(connection);
            while let Some(connection) = next {
                let scope = Arc::clone(connection.entry.scope());
                connection::run(&shared, connection);
                next = shared.next(&scope);
            }
        });
        if spawned.is_err() {
            refusable.refuse(&Fault::NoThread);
            self.shared.lock().end(&scope);
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

    /// Returns the next connection for a thread that has finished one of this scope; `None` ends the thread.
    fn next(&self, ended: &Arc<Scope>) -> Option<Connection> {
        let mut threads = self.lock();
        threads.end(ended);
        let next = threads.take_waiting(self.limits.open_per_command);
        if let Some(connection) = &next {
            threads.begin(connection.entry.scope());
        }
        next
    }
}
