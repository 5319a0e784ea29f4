//! Notifications of a system call filter: calls that wait until the process that holds the listener answers them.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::{Errno, Result};
use seccompiler::sock_filter;

use super::descriptors::last_errno;

/// One call that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notification {
    pub(crate) id: u64,
    /// The calling thread, by its number in the process namespace of the reader.
    pub(crate) thread: u32,
    pub(crate) call: libc::c_long,
    pub(crate) arguments: [u64; 6],
}

/// Puts a filter in force for this process and its descendants, and returns the listener for its notifications.
///
/// The process must have given up gaining privileges.
pub(crate) fn install_with_listener(program: &[sock_filter]) -> Result<OwnedFd> {
    let length = program.len().try_into().map_err(|_| Errno::TOOBIG)?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut().cast() };
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // A signal must not interrupt a call that is being answered; older kernels lack the flag.
    let patient = listener | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let mut result = Err(Errno::INVAL);
    for flags in [patient, listener] {
        // SAFETY: the kernel copies the program, whose length is given; nothing is written.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        result = if descriptor < 0 { Err(last_errno()) } else { Ok(descriptor) };
        if result != Err(Errno::INVAL) {
            break;
        }
    }
    let descriptor = libc::c_int::try_from(result?).map_err(|_| Errno::BADF)?;
    // SAFETY: the call has just opened it for this process, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Waits for a call.
pub(crate) fn receive_notification(listener: BorrowedFd<'_>) -> Result<Notification> {
    // SAFETY: the structure holds numbers only, for which zero is a value; the kernel wants it to be zero.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request's number holds the structure's size, so the kernel writes no more than that.
    let done =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) };
    if done != 0 {
        return Err(last_errno());
    }
    let libc::seccomp_data { nr, args, .. } = notification.data;
    Ok(Notification { id: notification.id, thread: notification.pid, call: nr.into(), arguments: args })
}

/// Checks whether the call still waits: if so, its thread's number has not been reused yet.
pub(crate) fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: the kernel reads one number.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
}

/// Answers a call with 0 or an error. The kernel does not carry it out.
pub(crate) fn answer_notification(listener: BorrowedFd<'_>, id: u64, answer: Result<()>) -> Result<()> {
    let error = answer.err().map_or(0, |errno| -errno.raw_os_error());
    respond(listener, libc::seccomp_notif_resp { id, val: 0, error, flags: 0 })
}

/// Has the kernel carry a call out. The caller may have changed its arguments since, so nothing may depend on them.
pub(crate) fn leave_to_kernel(listener: BorrowedFd<'_>, id: u64) -> Result<()> {
    let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE.try_into().map_err(|_| Errno::INVAL)?;
    respond(listener, libc::seccomp_notif_resp { id, val: 0, error: 0, flags })
}

fn respond(listener: BorrowedFd<'_>, response: libc::seccomp_notif_resp) -> Result<()> {
    // SAFETY: the request's number holds the structure's size; the kernel reads it.
    let done =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Connects a socket to an address in the kernel's binary form.
pub(crate) fn connect(socket: BorrowedFd<'_>, address: &[u8]) -> Result<()> {
    let length = address.len().try_into().map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads as many bytes as are given.
    let done = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}
