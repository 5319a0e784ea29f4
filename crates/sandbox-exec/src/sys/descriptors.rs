//! Keeping descriptors from the programs that are executed.

use rustix::io::{Errno, Result};

/// Closes every descriptor from 3 on.
///
/// Only for a process that has opened none of them itself: what it inherited has no owner among its objects.
pub(crate) fn close_inherited() -> Result<()> {
    // SAFETY: the call takes three integers and touches no memory. The caller is a program at its very beginning,
    // so no object of this process owns a descriptor that is closed here.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    match if done == 0 { Ok(()) } else { Err(last_errno()) } {
        Err(Errno::NOSYS) => {
            for descriptor in open_from(3)? {
                // SAFETY: as above. The one by which the list was read is closed already, and closing it again only
                // fails: nothing was opened in between.
                unsafe { libc::close(descriptor) };
            }
            Ok(())
        }
        other => other,
    }
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
        // The flag for it is younger than the call.
        Err(Errno::NOSYS | Errno::INVAL) => {
            for descriptor in open_from(first.try_into().map_err(|_| Errno::INVAL)?)? {
                // SAFETY: the call takes integers and touches no memory; on what is not open it only fails.
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
