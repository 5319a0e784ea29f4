//! Notices mounts and unmounts on the host.

use std::fs::File;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

/// Watches the list of mounts of this process's namespace.
#[derive(Debug)]
pub(crate) struct MountWatch {
    list: Option<File>,
}

impl MountWatch {
    /// Begins to watch.
    pub(crate) fn start() -> MountWatch {
        MountWatch { list: File::open("/proc/self/mountinfo").ok() }
    }

    /// Returns the descriptor to poll; it is ready once after each change, since polling resets it.
    pub(crate) fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.list.as_ref().map(|list| PollFd::new(list, PollFlags::PRI))
    }

    /// Checks whether the list has changed since the last call, or since the start; always true where the kernel does not
    /// report it.
    pub(crate) fn has_changed(&self) -> bool {
        let Some(list) = &self.list else { return true };
        let mut watched = [PollFd::new(list, PollFlags::PRI)];
        let polled = poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        polled.is_err() || watched[0].revents().intersects(PollFlags::PRI | PollFlags::ERR)
    }
}
