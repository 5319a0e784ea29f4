//! The network of one command: what it may connect to, and what it is connected to.

use std::collections::HashMap;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::connection::Connection;
use super::dialer::Dialer;
use super::refused::Fault;
use crate::allow::{AllowList, HostName};
use crate::refusal::Refusal;

/// The network of one command. When it is dropped, every connection of the command ends.
pub struct Grant {
    dialer: Dialer,
    scope: Arc<Scope>,
}

/// The state that the connections of a command share.
pub(crate) struct Scope {
    pub(crate) list: Arc<AllowList>,
    report: Box<dyn Fn(Refusal) + Send + Sync>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    is_ended: bool,
    last: u64,
    streams: HashMap<u64, Arc<TcpStream>>,
}

/// A connection that ends with its scope.
pub(crate) struct Registered {
    scope: Arc<Scope>,
    number: u64,
}

impl Grant {
    /// Grants a command the names of a list. Each connection that is not made is reported.
    #[must_use]
    pub fn new(
        dialer: &Dialer,
        list: Arc<AllowList>,
        report: impl Fn(Refusal) + Send + Sync + 'static,
    ) -> Grant {
        let scope = Scope { list, report: Box::new(report), open: Mutex::default() };
        Grant { dialer: dialer.clone(), scope: Arc::new(scope) }
    }

    /// Checks whether a name is on the list, at any port. One that is not is reported.
    pub fn resolves(&self, name: &HostName) -> bool {
        let is_allowed = self.scope.list.has_name(name);
        if !is_allowed {
            self.scope.report(Refusal::of_lookup(name));
        }
        is_allowed
    }

    /// Carries a connection that the command opened to a port of a name; `accepted` is its other end. It is checked, made and
    /// ended on a thread of its own.
    pub fn carry(&self, name: HostName, port: u16, accepted: OwnedFd) {
        let accepted = Arc::new(TcpStream::from(accepted));
        // The caller may have accepted it to be polled.
        let is_usable = accepted.set_nonblocking(false).is_ok();
        let connection = Connection { name, port, accepted, scope: Arc::clone(&self.scope) };
        let allowed = self.scope.list.find(&connection.name, port).filter(|_| is_usable);
        match allowed {
            // A refusal does not wait for others' connections.
            None => connection.refuse(&Fault::NotAllowed),
            Some(_) => self.dialer.submit(connection),
        }
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        let mut open = self.scope.lock();
        open.is_ended = true;
        self.dialer.forget(&self.scope);
        for stream in open.streams.values() {
            // One that has ended already has nothing to shut down.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("list", &self.scope.list).finish_non_exhaustive()
    }
}

impl Scope {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn report(&self, refusal: Refusal) {
        (self.report)(refusal);
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.lock().is_ended
    }

    /// Has a connection end with the scope; `None` if that has happened.
    pub(crate) fn register(self: &Arc<Scope>, stream: Arc<TcpStream>) -> Option<Registered> {
        let mut open = self.lock();
        if open.is_ended {
            return None;
        }
        open.last += 1;
        let number = open.last;
        open.streams.insert(number, stream);
        Some(Registered { scope: Arc::clone(self), number })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.scope.lock().streams.remove(&self.number);
    }
}
