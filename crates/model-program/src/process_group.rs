//! A child with its process group.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};

/// A child that leads a process group, all of which is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct ProcessGroup(pub(crate) Child);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The number of a leader that was waited for stays taken as long as its group has a process.
        if let Some(leader) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // The group may be gone already.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}
