//! A child with its process group and descendants.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::descendants::Descendants;

/// A child that leads a process group. Dropping this kills the whole group and, if the child still runs, also its descendants in
/// other groups.
#[derive(Debug)]
pub(crate) struct ProcessGroup(pub(crate) Child);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The id of a child that was waited for may be reused. Otherwise no other process can have it.
        let is_running = matches!(self.0.try_wait(), Ok(None));
        let descendants = is_running.then(|| Descendants::of(self.0.id()));
        // The id of a leader that was waited for stays reserved as long as its group has a process.
        if let Some(leader) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // The group may already be gone.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        // It may have left its group, and waiting for it would never end.
        let _ = self.0.kill();
        if let Some(descendants) = descendants {
            descendants.kill();
        }
        let _ = self.0.wait();
    }
}
