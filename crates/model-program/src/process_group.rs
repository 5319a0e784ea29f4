//! A child with its process group, and with what it has started.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::descendants::Descendants;

/// A child that leads a process group. When this is dropped, all of the group is killed, and, if the child still runs, what it has
/// started in other groups, too.
#[derive(Debug)]
pub(crate) struct ProcessGroup(pub(crate) Child);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // The number of a child that was waited for is not its own any more. Otherwise nothing else can have it.
        let is_running = matches!(self.0.try_wait(), Ok(None));
        let descendants = is_running.then(|| Descendants::of(self.0.id()));
        // The number of a leader that was waited for stays taken as long as its group has a process.
        if let Some(leader) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // The group may be gone already.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        // It may have left its group, and would be waited for without an end.
        let _ = self.0.kill();
        if let Some(descendants) = descendants {
            descendants.kill();
        }
        let _ = self.0.wait();
    }
}
