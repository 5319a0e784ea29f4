//! The descendants of a process, which programs such as `timeout` put into other groups.

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// The descendants of a process at one moment.
    pub(crate) struct Descendants(Vec<OwnedFd>);

    impl Descendants {
        /// Finds the descendants of a process that has not been waited for. Processes that start in the meantime may be missing.
        pub(crate) fn of(leader: u32) -> Descendants {
            let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
            let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
            let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
            for id in ids {
                if let Some(parent) = parent(id) {
                    children.entry(parent).or_default().push(id);
                }
            }
            let (mut processes, mut next) = (Vec::new(), vec![leader]);
            while let Some(above) = next.pop() {
                for id in children.remove(&above).unwrap_or_default() {
                    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
                    let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
                    // The id may have been reused since it was read.
                    if let Some(process) = process.filter(|_| parent(id) == Some(above)) {
                        processes.push(process);
                        next.push(id);
                    }
                }
            }
            Descendants(processes)
        }

        /// Kills them.
        pub(crate) fn kill(&self) {
            for process in &self.0 {
                // The process may already have ended.
                let _ = pidfd_send_signal(process, Signal::KILL);
            }
        }
    }

    /// Returns the parent of a process; `None` if the process no longer exists.
    fn parent(id: u32) -> Option<u32> {
        let line = fs::read(format!("/proc/{id}/stat")).ok()?;
        // The parent is the second field after the name in parentheses, which may contain anything.
        let end = line.iter().rposition(|byte| *byte == b')')?;
        let fields = std::str::from_utf8(line.get(end + 1..)?).ok()?;
        fields.split_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// No descendants: only the group of a program is known on this system.
    pub(crate) struct Descendants;

    impl Descendants {
        pub(crate) fn of(_: u32) -> Descendants {
            Descendants
        }

        pub(crate) fn kill(&self) {}
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Descendants;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Descendants;
