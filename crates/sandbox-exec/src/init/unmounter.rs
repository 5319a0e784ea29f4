//! The unmounter of a command: a process that can unmount build folders from a layer, and do nothing else.
//!
//! It is the only process of a command that keeps a capability, to unmount. A system call filter leaves it that call
//! and those for receiving and answering requests. It holds the mounts that it was made with, by descriptor.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::{Errno, Result};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Signal, fchdir, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use crate::init::EXIT_BROKEN;
use crate::spawner::channel;
use crate::sys::{self, Cloned};

/// The system calls that it makes; any other one ends it.
const CALLS: [libc::c_long; 13] = [
    libc::SYS_brk,
    libc::SYS_close,
    libc::SYS_exit_group,
    libc::SYS_fchdir,
    libc::SYS_fcntl,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_recvmsg,
    libc::SYS_restart_syscall,
    libc::SYS_sendmsg,
    libc::SYS_umount2,
];

/// The supervisor's end: asks for build folders to be unmounted.
pub(crate) struct Unmounter {
    requests: OwnedFd,
}

impl Unmounter {
    /// Wraps the supervisor's end.
    pub(crate) fn new(requests: OwnedFd) -> Unmounter {
        Unmounter { requests }
    }

    /// Unmounts the build folder with this mount number. Each request has its own answer channel, since several processes
    /// may make requests.
    ///
    /// # Errors
    /// [`Errno::BUSY`] for any other mount, as the kernel answers for mount points.
    pub(crate) fn unmount(&self, mount: u64) -> Result<()> {
        let (answer, its_end) = channel::pair()?;
        channel::send(&self.requests, &mount.to_le_bytes(), &[its_end.as_fd()])?;
        drop(its_end);
        match channel::receive(&answer)? {
            Some((bytes, _)) if bytes == DONE => Ok(()),
            _ => Err(Errno::BUSY),
        }
    }
}

const DONE: &[u8] = b"D";
const FAILED: &[u8] = b"F";

/// Starts the process for these mounts, and returns the socket for requests. The calling process can unmount, and gives
/// that up afterwards.
pub(crate) fn start(folders: Vec<OwnedFd>) -> Result<OwnedFd> {
    let numbered = folders.into_iter().map(|folder| {
        let status = statx(&folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
        Ok((status.stx_mnt_id, folder))
    });
    let mounts: BTreeMap<u64, OwnedFd> = numbered.collect::<Result<_>>()?;
    let (requests, its_end) = channel::pair()?;
    match sys::clone_process(0)? {
        Cloned::Child => {
            drop(requests);
            if confine(&mounts, &its_end).is_ok() {
                serve(mounts, &its_end);
            }
            sys::exit_now(EXIT_BROKEN)
        }
        Cloned::Parent { .. } => Ok(requests),
    }
}

/// Confines the process to the mounts, the socket and the right to unmount.
fn confine(mounts: &BTreeMap<u64, OwnedFd>, requests: &OwnedFd) -> Result<()> {
    // The others include the ends of the command's output: held open here, the launcher would wait for its end.
    let kept: Vec<&OwnedFd> = mounts.values().chain([requests]).collect();
    sys::close_all_but(&kept)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let (only, none) = (CapabilitySet::SYS_ADMIN, CapabilitySet::empty());
    set_capabilities(None, CapabilitySets { effective: only, permitted: only, inheritable: none })?;
    rustix::thread::set_no_new_privs(true)?;
    let program: BpfProgram = TargetArch::try_from(std::env::consts::ARCH)
        .and_then(|architecture| {
            let rules = CALLS.map(|call| (call, vec![])).into();
            SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, architecture)
        })
        .and_then(TryInto::try_into)
        .map_err(|_| Errno::NOSYS)?;
    apply_filter(&program).map_err(|_| Errno::PERM)
}

fn serve(mut mounts: BTreeMap<u64, OwnedFd>, requests: &OwnedFd) {
    while let Ok(Some((bytes, answers))) = channel::receive(requests) {
        let number = bytes.try_into().map(u64::from_le_bytes).ok();
        // Each can be unmounted once, which also closes its descriptor.
        let folder = number.and_then(|number| mounts.remove(&number));
        let is_done = folder.is_some_and(|folder| take_off(folder.as_fd()).is_ok());
        for answer in answers {
            // A caller that was killed waits for nothing.
            let _ = channel::send(answer, if is_done { DONE } else { FAILED }, &[]);
        }
    }
    sys::exit_now(0)
}

fn take_off(folder: BorrowedFd<'_>) -> Result<()> {
    fchdir(folder)?;
    unmount(".", UnmountFlags::DETACH)
}
