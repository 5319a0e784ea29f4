//! Ending a command from any thread.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, pidfd_send_signal};

use crate::spawner::channel;

/// Ends a command from any thread. After the command's end it does nothing.
#[derive(Clone, Debug)]
pub struct Killer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    status: OwnedFd,
    init: OwnedFd,
    owns_namespace: bool,
    is_cancelled: AtomicBool,
}

impl Killer {
    /// Takes the command's status socket and its init's pidfd.
    pub(crate) fn new(status: OwnedFd, init: OwnedFd, owns_namespace: bool) -> Killer {
        let is_cancelled = AtomicBool::new(false);
        Killer { shared: Arc::new(Shared { status, init, owns_namespace, is_cancelled }) }
    }

    /// Kills the command with all its descendants; [`Running::wait`](crate::Running::wait) then answers
    /// [`Ending::Cancelled`](crate::Ending::Cancelled), unless the shell had ended by itself before.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Release);
        self.kill();
    }

    /// Asks the command to end: its shell's process group receives SIGTERM, which the command may ignore. Its outcome is
    /// then its own. Without a process namespace it is killed instead.
    pub fn terminate(&self) {
        // An error says that the init is dead already, and everything in its namespace with it.
        let _ = pidfd_send_signal(&self.shared.init, Signal::TERM);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::Acquire)
    }

    pub(crate) fn status(&self) -> BorrowedFd<'_> {
        self.shared.status.as_fd()
    }

    pub(crate) fn kill(&self) {
        if self.shared.owns_namespace {
            // An error says that the init is dead already, and everything in its namespace with it.
            let _ = pidfd_send_signal(&self.shared.init, Signal::KILL);
        } else {
            // The spawner searches and kills. If it is gone, the command's init does so itself.
            let _ = channel::send(&self.shared.status, b"K", &[]);
        }
    }
}
