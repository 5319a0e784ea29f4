//! The network of one command: its allowed names, and its connections.

use std::fmt;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use super::connection::Connection;
use super::dialer::Dialer;
use super::refused::Fault;
use super::scope::Scope;
use crate::allow::{AllowList, HostName};
use crate::refusal::Refusal;

/// The network of one command. When it is dropped, every connection of the command ends. A connection whose last byte was
/// passed on by [`finish`](Grant::finish) has already sent its end, and is kept for
/// [`DialLimits::draining`](crate::DialLimits::draining) at most, so that those bytes arrive.
pub struct Grant {
    dialer: Dialer,
    scope: Arc<Scope>,
}

impl Grant {
    /// Grants a command the names of a list. Each refused connection is reported.
    #[must_use]
    pub fn new(
        dialer: &Dialer,
        list: Arc<AllowList>,
        report: impl Fn(Refusal) + Send + Sync + 'static,
    ) -> Grant {
        Grant { dialer: dialer.clone(), scope: Arc::new(Scope::new(list, Box::new(report))) }
    }

    /// Checks whether a name is on the list, at any port. A refusal is reported.
    pub fn resolves(&self, name: &HostName) -> bool {
        let is_allowed = self.scope.list.has_name(name);
        if !is_allowed {
            self.scope.report(Refusal::of_lookup(name));
        }
        is_allowed
    }

    /// Carries a connection that the command opened to a port of a name; `accepted` is its other end. It is checked, made and
    /// ended on a separate thread.
    pub fn carry(&self, name: HostName, port: u16, accepted: OwnedFd) {
        let accepted = Arc::new(TcpStream::from(accepted));
        // The caller may have made the socket non-blocking to poll it.
        let is_usable = accepted.set_nonblocking(false).is_ok();
        let Some(entry) = self.scope.enter(Arc::clone(&accepted)) else { return };
        let connection = Connection { name, port, accepted, entry };
        let allowed = self.scope.list.find(&connection.name, port).filter(|_| is_usable);
        match allowed {
            // A refusal does not wait for others' connections.
            None => connection.refuse(&Fault::NotAllowed),
            Some(_) => self.dialer.submit(connection),
        }
    }

    /// Ends the connections after the last byte that the command has sent; the command must have ended. Bytes on their way to
    /// the network arrive, and answers are discarded. Returns when that is done, or after
    /// [`DialLimits::draining`](crate::DialLimits::draining).
    pub fn finish(&self) {
        self.scope.drain(Instant::now() + self.dialer.shared.limits.draining);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.scope.end();
        self.dialer.forget(&self.scope);
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("list", &self.scope.list).finish_non_exhaustive()
    }
}
