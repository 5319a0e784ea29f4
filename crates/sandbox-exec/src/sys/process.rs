//! Creating, replacing and leaving a process.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::io::{Errno, Result};
use rustix::process::Pid;

use super::descriptors::last_errno;

/// The side of a clone on which the caller now runs.
#[derive(Debug)]
pub(crate) enum Cloned {
    /// The new process. It must end in [`execute`] or [`exit_now`].
    Child,
    /// The old process.
    Parent {
        /// The new process.
        child: Pid,
        /// A descriptor that refers to it and becomes readable when it has ended.
        pidfd: OwnedFd,
    },
}

/// Creates a process like [`clone_process`] does, in a control group of version 2.
///
/// An error may only mean that the kernel does not support it; without the group the call may succeed.
pub(crate) fn clone_process_into(namespaces: libc::c_int, group: &OwnedFd) -> Result<Cloned> {
    debug_assert_eq!(thread_count(), Some(1), "a process with threads may not be cloned");
    let mut pidfd: libc::c_int = -1;
    let namespaces = u64::from(namespaces.unsigned_abs());
    let request = libc::clone_args {
        flags: namespaces | libc::CLONE_PIDFD.unsigned_abs() as u64 | CLONE_INTO_CGROUP,
        pidfd: (&raw mut pidfd) as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal: u64::from(libc::SIGCHLD.unsigned_abs()),
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: u64::from(group.as_raw_fd().unsigned_abs()),
    };
    // SAFETY: without CLONE_VM and with a null stack this is `fork`, see `clone_process`. The request is a valid
    // `clone_args` of the size given; it and the integer that it points to outlive the call.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const request, size_of::<libc::clone_args>()) };
    cloned(pid, pidfd)
}

/// A flag of `clone3` that the C library's headers give as a signed number of another size.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Creates a process like `fork` does, in the new namespaces that `namespaces` (`CLONE_NEW*`) names.
///
/// The calling process must have one thread only: then the child's copy of the memory is consistent, and the child
/// may allocate and take locks.
pub(crate) fn clone_process(namespaces: libc::c_int) -> Result<Cloned> {
    debug_assert_eq!(thread_count(), Some(1), "a process with threads may not be cloned");
    let mut pidfd: libc::c_int = -1;
    let flags = libc::CLONE_PIDFD | namespaces | libc::SIGCHLD;
    // SAFETY: without CLONE_VM and with a null stack this is `fork`: the child continues with a copy of the memory.
    // CLONE_PIDFD makes the kernel store one integer at the third argument, which outlives the call. The process
    // has a single thread, so no lock is held by anyone else in the copy.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, &raw mut pidfd, 0, 0) };
    cloned(pid, pidfd)
}

/// Creates a process like [`clone_process`] does, but as a child of the calling process's parent.
pub(crate) fn clone_sibling(namespaces: libc::c_int) -> Result<Cloned> {
    // The kernel copies the exit signal from the calling process.
    clone_process(namespaces | libc::CLONE_PARENT)
}

/// Interprets the result of a call that creates a process.
fn cloned(pid: libc::c_long, pidfd: libc::c_int) -> Result<Cloned> {
    match pid {
        -1 => Err(last_errno()),
        0 => Ok(Cloned::Child),
        pid => {
            let child = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::OVERFLOW)?;
            // SAFETY: the kernel has just opened this descriptor for us, and no other code knows it.
            Ok(Cloned::Parent { child, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) } })
        }
    }
}

/// Moves the calling process, which must have one thread only, into the new namespaces that `namespaces` (`CLONE_NEW*`)
/// names.
pub(crate) fn unshare(namespaces: libc::c_int) -> Result<()> {
    debug_assert_eq!(thread_count(), Some(1), "a process with threads may not leave its namespaces");
    // SAFETY: takes an integer. Namespaces change what names mean, and no memory or descriptor.
    match unsafe { libc::unshare(namespaces) } {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

/// Counts this process's threads, or returns `None` where `/proc` does not show them.
fn thread_count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// Replaces this process by a program; returns only the error.
pub(crate) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> Errno {
    let terminated = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    let (arguments, environment) = (terminated(arguments), terminated(environment));
    // SAFETY: all three are NUL-terminated strings, or null-terminated arrays of them, that live across the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    last_errno()
}

/// Ends this process at once, without running destructors or exit handlers of the process that it was cloned from.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: takes an integer and does not return.
    unsafe { libc::_exit(code) }
}
