//! Folders that are closed to every user but their owner.
//!
//! Only git reads an agent's git folders, object by object. No other user of the machine needs access: neither to run
//! files of the agent's nor to add any.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The mode of a closed folder.
const CLOSED: u32 = 0o700;

/// Makes a folder that is closed from the start, and its missing parents. An existing folder keeps its mode.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(CLOSED).create(folder)
}

/// Closes an existing folder. A symlink at its path is not followed; a missing folder is not an error.
pub(crate) fn close(folder: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // The descriptor pins the folder, so a symlink that replaces it after the check is not followed either.
    let held = match rustix::fs::open(folder, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => return Ok(()),
        other => other?,
    };
    // `fchmod` refuses a descriptor that was opened with `O_PATH`; its path in `/proc` does not.
    let held = format!("/proc/self/fd/{}", held.as_raw_fd());
    if fs::metadata(&held)?.permissions().mode() & 0o7777 == CLOSED {
        return Ok(());
    }
    fs::set_permissions(&held, Permissions::from_mode(CLOSED))
}
