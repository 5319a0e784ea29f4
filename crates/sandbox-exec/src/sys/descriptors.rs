//! Keeping descriptors from the programs that are executed.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::{Errno, Result};

/// Closes every descriptor from 3 on.
///
/// Only for a process that has opened none of them itself: inherited descriptors have no owner among its objects.
pub(crate) fn close_inherited() -> Result<()> {
    // SAFETY: the call takes three integers and touches no memory. The caller is a program at its very beginning,
    // so no object of this process owns a descriptor that is closed here.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    match if done == 0 { Ok(()) } else { Err(last_errno()) } {
        Err(Errno::NOSYS) => {
            for descriptor in open_from(3)? {
                // SAFETY: as above. The descriptor of the listing is already closed, and closing it again only fails:
                // nothing was opened in between.
                unsafe { libc::close(descriptor) };
            }
            Ok(())
        }
        other => other,
    }
}

/// Closes every descriptor from 3 on except these.
///
/// Only for a process that ends in [`exit_now`](super::exit_now) and uses no other object of the process that it was
/// cloned from: their descriptors are closed here.
pub(crate) fn close_all_but(kept: &[&OwnedFd]) -> Result<()> {
    let mut kept: Vec<libc::c_int> = kept.iter().map(|descriptor| descriptor.as_raw_fd()).collect();
    kept.sort_unstable();
    for descriptor in open_from(3)? {
        if kept.binary_search(&descriptor).is_err() {
            // SAFETY: the call takes an integer and touches no memory; by the caller's promise no object that owns the
            // descriptor is used or dropped any more.
            unsafe { libc::close(descriptor) };
        }
    }
    Ok(())
}

/// Lists the open descriptors from `first` on: before Linux 5.9 there is no call for a range of them.
fn open_from(first: libc::c_int) -> Result<Vec<libc::c_int>> {
    let entries = std::fs::read_dir("/proc/self/fd").map_err(|_| Errno::NOSYS)?;
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(numbers.filter(|number| *number >= first).collect())
}

/// Marks every descriptor from `first` on, in this process only, to be closed when a program is executed.
pub(crate) fn close_on_execute_from(first: u32) -> Result<()> {
    // SAFETY: the call takes three integers and touches no memory; no descriptor is closed now.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    match if done == 0 { Ok(()) } else { Err(last_errno()) } {
        // The flag is newer than the call.
        Err(Errno::NOSYS | Errno::INVAL) => {
            for descriptor in open_from(first.try_into().map_err(|_| Errno::INVAL)?)? {
                // SAFETY: the call takes integers and touches no memory; on a closed descriptor it only fails.
                unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
            }
            Ok(())
        }
        other => other,
    }
}

/// Returns the error number of the call that just failed on this thread.
pub(super) fn last_errno() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error();
    Errno::from_raw_os_error(code.expect("an error built from errno has a number"))
}
