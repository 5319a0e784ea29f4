//! A fresh `/proc`: only the command's own processes, and the kernel's settings read-only.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::init::new_root::{NewRoot, no_programs};
use crate::init::step::{AtStep, Step, StepError};
use crate::init::user_limits;

/// Folders that root could change without any capability, because root owns the files.
const READ_ONLY: [&str; 4] = ["proc/sys", "proc/irq", "proc/bus", "proc/fs"];

/// Files that describe the host, its kernel and its keys, or the activity of other processes: interrupts reveal the
/// times of key strokes, locks the files in use. The kernel's command line may hold passwords; since Linux 6.10,
/// `bootconfig` repeats it. Programs need none of them.
const COVERED: [&str; 30] = [
    "proc/acpi",
    "proc/asound",
    "proc/bootconfig",
    "proc/cmdline",
    "proc/config.gz",
    "proc/driver",
    "proc/dynamic_debug",
    "proc/interrupts",
    "proc/iomem",
    "proc/ioports",
    "proc/kallsyms",
    "proc/kcore",
    "proc/key-users",
    "proc/keys",
    "proc/kmsg",
    "proc/kpagecgroup",
    "proc/kpagecount",
    "proc/kpageflags",
    "proc/latency_stats",
    "proc/locks",
    "proc/modules",
    "proc/mtrr",
    "proc/pagetypeinfo",
    "proc/sched_debug",
    "proc/scsi",
    "proc/slabinfo",
    "proc/sysrq-trigger",
    "proc/timer_list",
    "proc/timer_stats",
    "proc/vmallocinfo",
];

/// Since this version of Linux the highest process number is a setting of each process namespace.
const PROCESS_LIMIT_SINCE: (u32, u32) = (6, 14);

/// Numbers that the kernel does not use again once all have been used.
const RESERVED_PROCESS_NUMBERS: u32 = 300;

/// Mounts `/proc` and limits the number of processes in the namespace, where the kernel supports it.
pub(crate) fn mount(root: &NewRoot, process_limit: u32) -> Result<(), StepError> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC).at(Step::Proc)?;
    fsconfig_create(&context).at(Step::Proc)?;
    let attributes = no_programs() | MountAttrFlags::MOUNT_ATTR_NODEV;
    let proc = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).at(Step::Proc)?;
    if is_process_limit_per_namespace() {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let setting = openat(&proc, "sys/kernel/pid_max", flags, Mode::empty()).at(Step::ProcessLimit)?;
        let highest = process_limit.saturating_add(RESERVED_PROCESS_NUMBERS);
        File::from(setting).write_all(highest.to_string().as_bytes()).at(Step::ProcessLimit)?;
    }
    if root.has_own_users() {
        user_limits::set(&proc).at(Step::ProcessLimit)?;
    }
    root.make_folder(Path::new("proc"), 0o555).at(Step::Proc)?;
    root.attach(&proc, Path::new("proc")).at(Step::Proc)?;
    for path in READ_ONLY {
        match root.rebind(Path::new(path), true) {
            Err(Errno::NOENT) => {}
            other => other.at(Step::Proc)?,
        }
    }
    for path in COVERED {
        root.cover(Path::new(path)).at(Step::Proc)?;
    }
    Ok(())
}

/// Checks whether setting the limit changes nothing outside: on an older kernel the file is machine-wide.
pub(crate) fn is_process_limit_per_namespace() -> bool {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    let mut numbers = release.split(|character: char| !character.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= PROCESS_LIMIT_SINCE,
        _ => false,
    }
}
