//! Folders that are closed to everybody but their owner.
//!
//! What an agent leaves in its git folders is looked at by git alone, object by object. So nobody else of the machine has
//! to get there: neither to run what lies in it nor to put something in.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// What a closed folder allows.
const CLOSED: u32 = 0o700;

/// Makes a folder that is closed from the start, and those on the way to it. One that is there stays as it is.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(CLOSED).create(folder)
}

/// Closes a folder that is there. A link in its place is not followed, and what is not there needs nothing.
pub(crate) fn close(folder: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = match rustix::fs::open(folder, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => return Ok(()),
        other => other?,
    };
    let held = format!("/proc/self/fd/{}", held.as_raw_fd());
    if fs::metadata(&held)?.permissions().mode() & 0o7777 == CLOSED {
        return Ok(());
    }
    fs::set_permissions(&held, Permissions::from_mode(CLOSED))
}
