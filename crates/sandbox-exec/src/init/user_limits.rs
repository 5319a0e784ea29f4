//! Limits on objects that the kernel counts for each user: in its own user namespace, a command is given a share.
//!
//! Objects of the namespace count for the user outside, too. Without its own limit, a command could exhaust the user's,
//! and the user's editor could not watch files any more.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

/// The limit of the namespace, the machine's limit for each user, and the divisor for a command's share of that.
const SHARES: [(&str, &str, u64); 2] = [
    ("sys/user/max_inotify_instances", "sys/fs/inotify/max_user_instances", 4),
    ("sys/user/max_inotify_watches", "sys/fs/inotify/max_user_watches", 2),
];

/// Kinds of objects that a command may not make. Those that it runs in exist already. Mount namespaces are missing here:
/// the kernel counts every detached mount as one, and making one takes a user namespace.
const NONE: [&str; 9] = [
    "sys/user/max_cgroup_namespaces",
    "sys/user/max_fanotify_groups",
    "sys/user/max_fanotify_marks",
    "sys/user/max_ipc_namespaces",
    "sys/user/max_net_namespaces",
    "sys/user/max_pid_namespaces",
    "sys/user/max_time_namespaces",
    "sys/user/max_user_namespaces",
    "sys/user/max_uts_namespaces",
];

/// Sets the limits of the calling process's user namespace through this `/proc`.
pub(crate) fn set(proc: &OwnedFd) -> std::io::Result<()> {
    for (limit, of_user, part) in SHARES {
        let Some(mut of_user) = open(proc, of_user, OFlags::RDONLY)? else { continue };
        let mut text = String::new();
        of_user.read_to_string(&mut text)?;
        // An unreadable number leaves the command one object.
        let share = text.trim().parse::<u64>().unwrap_or_default() / part;
        write(proc, limit, share.max(1))?;
    }
    NONE.iter().try_for_each(|limit| write(proc, limit, 0))
}

fn write(proc: &OwnedFd, limit: &str, value: u64) -> std::io::Result<()> {
    match open(proc, limit, OFlags::WRONLY)? {
        Some(mut file) => file.write_all(value.to_string().as_bytes()),
        None => Ok(()),
    }
}

/// Opens a setting; `None` if the kernel does not have it, so that there is nothing to limit.
fn open(proc: &OwnedFd, setting: &str, access: OFlags) -> std::io::Result<Option<File>> {
    match openat(proc, setting, access | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        opened => Ok(Some(File::from(opened?))),
    }
}
