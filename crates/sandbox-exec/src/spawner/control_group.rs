//! Control groups: limits on the memory and the processes of a whole command, where this user may make them.
//!
//! Both versions are supported. With version 1 a group is made in the `memory` and the `pids` hierarchy below the
//! spawner's own; with version 2 next to or below its own, wherever both controllers are delegated. Groups are removed
//! once their processes have ended.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, test_kill_process};

use crate::spawner::request::ChildLimits;

/// The prefix of every group's name; the spawner's process number and a count follow.
const NAME: &str = "sandbox-exec-";

/// The number of attempts to remove a group: its last process may still be exiting.
const REMOVAL_ATTEMPTS: u32 = 20;

/// The parent of the groups.
#[derive(Debug)]
pub(crate) struct ControlGroups {
    hierarchy: Option<Hierarchy>,
    count: u64,
}

#[derive(Debug)]
enum Hierarchy {
    One { memory: PathBuf, processes: PathBuf },
    Two { parent: PathBuf },
}

/// The group of one command: one folder for each hierarchy, the one that limits memory first.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    folders: Vec<PathBuf>,
    is_version_two: bool,
}

impl ControlGroups {
    /// Finds where this process may make groups, and removes those of a killed predecessor.
    pub(crate) fn find() -> ControlGroups {
        let hierarchy = find_hierarchy();
        for parent in hierarchy.iter().flat_map(Hierarchy::parents) {
            remove_stale(parent);
        }
        ControlGroups { hierarchy, count: 0 }
    }

    /// Makes a group with these limits.
    pub(crate) fn create(&mut self, limits: &ChildLimits) -> io::Result<ControlGroup> {
        let hierarchy = self.hierarchy.as_ref().ok_or(io::Error::from_raw_os_error(libc::EOPNOTSUPP))?;
        self.count += 1;
        let name = format!("{NAME}{}-{}", std::process::id(), self.count);
        let mut group = ControlGroup { folders: Vec::new(), is_version_two: hierarchy.is_version_two() };
        let done = group.make(hierarchy, &name, limits);
        if done.is_err() {
            group.remove();
        }
        done.map(|()| group)
    }
}

impl Hierarchy {
    fn parents(&self) -> Vec<&Path> {
        match self {
            Hierarchy::One { memory, processes } => vec![memory, processes],
            Hierarchy::Two { parent } => vec![parent],
        }
    }

    fn is_version_two(&self) -> bool {
        matches!(self, Hierarchy::Two { .. })
    }
}

impl ControlGroup {
    fn make(&mut self, hierarchy: &Hierarchy, name: &str, limits: &ChildLimits) -> io::Result<()> {
        for parent in hierarchy.parents() {
            let folder = parent.join(name);
            fs::create_dir(&folder)?;
            self.folders.push(folder);
        }
        self.limit(limits)
    }

    /// Sets or changes the limits.
    pub(crate) fn limit(&self, limits: &ChildLimits) -> io::Result<()> {
        let memory = limits.memory_bytes.to_string();
        let first = &self.folders[0];
        let last = &self.folders[self.folders.len() - 1];
        if self.is_version_two {
            fs::write(first.join("memory.max"), &memory)?;
            // A machine without swap has no such file.
            let _ = fs::write(first.join("memory.swap.max"), "0");
        } else {
            fs::write(first.join("memory.limit_in_bytes"), &memory)?;
            let _ = fs::write(first.join("memory.memsw.limit_in_bytes"), &memory);
        }
        // One more, for the init, which does not count as the command's.
        fs::write(last.join("pids.max"), limits.processes.saturating_add(1).to_string())
    }

    /// Opens the group for [`sys::clone_process`](crate::sys::clone_process), where the kernel can create a process in
    /// a group: with version 2.
    pub(crate) fn open(&self) -> Option<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = self.folders.first().filter(|_| self.is_version_two)?;
        rustix::fs::open(folder, flags, Mode::empty()).ok()
    }

    /// Puts the calling process, which has one thread, into the group. Its later children are in it too.
    ///
    /// With version 1 it is the thread that moves itself: moving a process makes every fork and exit on the machine
    /// wait for the kernel's grace period, often for many milliseconds.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let list = if self.is_version_two { "cgroup.procs" } else { "tasks" };
        self.folders.iter().try_for_each(|folder| fs::write(folder.join(list), "0"))
    }

    /// Counts the processes that the kernel killed because the limit on memory was reached.
    pub(crate) fn memory_kills(&self) -> u32 {
        let file = if self.is_version_two { "memory.events" } else { "memory.oom_control" };
        let Some(text) = self.folders.first().and_then(|folder| fs::read_to_string(folder.join(file)).ok())
        else {
            return 0;
        };
        text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
    }

    /// Counts the processes and threads that the kernel did not make because the limit on them was reached.
    pub(crate) fn refused_processes(&self) -> u32 {
        let events =
            self.folders.last().and_then(|folder| fs::read_to_string(folder.join("pids.events")).ok());
        let count = |text: &str| text.lines().find_map(|line| line.strip_prefix("max ")?.trim().parse().ok());
        events.as_deref().and_then(count).unwrap_or(0)
    }

    /// Removes the group. All its processes have ended; what cannot be removed is left to the next spawner.
    pub(crate) fn remove(&self) {
        for folder in &self.folders {
            for attempt in 0..REMOVAL_ATTEMPTS {
                match fs::remove_dir(folder) {
                    Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                        std::thread::sleep(Duration::from_micros(100) * attempt);
                    }
                    _ => break,
                }
            }
        }
    }
}

fn find_hierarchy() -> Option<Hierarchy> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    if let Some(path) = own.lines().find_map(|line| line.strip_prefix("0::"))
        && let Some(folder) = own_folder(&mounts, "cgroup2", None, path)
    {
        // First next to this process's group: a group that contains processes cannot have controlled groups below it.
        let parents = [folder.parent().map(Path::to_owned), Some(folder)];
        if let Some(parent) = parents.into_iter().flatten().find(|parent| delegates(parent)) {
            return Some(Hierarchy::Two { parent });
        }
    }
    let version_one = |controller: &str| {
        let path = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|name| name == controller).then_some(path)
        })?;
        own_folder(&mounts, "cgroup", Some(controller), path).filter(|folder| is_writable(folder))
    };
    Some(Hierarchy::One { memory: version_one("memory")?, processes: version_one("pids")? })
}

/// Checks whether groups below this one can be made and have both controllers.
fn delegates(parent: &Path) -> bool {
    let controllers = fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |name| controllers.split_whitespace().any(|controller| controller == name);
    has("memory") && has("pids") && is_writable(parent) && is_writable(&parent.join("cgroup.procs"))
}

fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Finds the folder of a group in the list of mounts: the mount of this file system type with the controller.
fn own_folder(mounts: &str, kind: &str, controller: Option<&str>, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        let (its_kind, options) = (source.next()?, source.nth(1)?);
        let has_controller = controller.is_none_or(|wanted| options.split(',').any(|name| name == wanted));
        if its_kind != kind || !has_controller {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, mount_point) = (fields.next()?, fields.next()?);
        // In a container the mount shows a part of the tree only, and paths may begin above it.
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
        let folder = Path::new(mount_point).join(below);
        folder.is_dir().then_some(folder)
    })
}

fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split_once('-')?.0.parse().ok());
        let Some(owner) = owner.and_then(Pid::from_raw) else { continue };
        if test_kill_process(owner) == Err(rustix::io::Errno::SRCH) {
            // It fails for a group that still has processes.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_by_type_and_controller() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("memory/a/b")).unwrap();
        fs::create_dir_all(root.join("unified")).unwrap();
        let mounts = format!(
            "35 31 0:32 / {0}/memory rw - cgroup cgroup rw,memory\n41 31 0:38 / {0}/unified rw shared:1 - cgroup2 none rw\n",
            root.display()
        );
        assert_eq!(own_folder(&mounts, "cgroup", Some("memory"), "/a/b"), Some(root.join("memory/a/b")));
        assert_eq!(own_folder(&mounts, "cgroup", Some("pids"), "/a/b"), None);
        assert_eq!(own_folder(&mounts, "cgroup", Some("memory"), "/missing"), None);
        assert_eq!(own_folder(&mounts, "cgroup2", None, "/"), Some(root.join("unified")));
    }
}
