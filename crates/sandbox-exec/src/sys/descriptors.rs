//! Keeping descriptors from the programs that are executed.

use rustix::io::{Errno, Result};

/// Closes every descriptor from 3 on.
///
/// Only for a process that has opened none of them itself: what it inherited has no owner among its objects.
pub(crate) fn close_inherited() -> Result<()> {
    // SAFETY: the call takes three integers and touches no memory. The caller is a program at its very beginning,
    // so no object of this process owns a descriptor that is closed here.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Marks every descriptor from `first` on, in this process only, to be closed when a program is executed.
pub(crate) fn close_on_execute_from(first: u32) -> Result<()> {
    // SAFETY: the call takes three integers and touches no memory; no descriptor is closed now.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Returns the error number of the call that just failed on this thread.
pub(super) fn last_errno() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error();
    Errno::from_raw_os_error(code.expect("an error built from errno has a number"))
}
