//! Renames of one name: to a random one, and to one that must be free.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::handle;

/// The way in which a rename kept from replacing an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The system refused a name that is taken.
    System,
    /// The name was free right before the rename. An entry that came in between was replaced.
    Checked,
}

/// Renames `name` to a random name in the same folder, where nothing can be replaced.
///
/// This is one step on every file system. A hard link of the new name and an unlink of the old one would be two, and a
/// file that another program saves by renaming in between would be unlinked.
pub(crate) fn rename_away(folder: &OwnedFd, name: &[u8], random_name: &[u8]) -> Result<(), Errno> {
    // Some network file systems return EINTR from a rename that has not taken effect.
    retry_on_intr(|| rustix::fs::renameat(folder, name, folder, random_name))
}

/// Renames the random name `from` to the name `to`, which must be free: EEXIST if it is not.
///
/// If the file system lacks `RENAME_NOREPLACE`, hard-links the new name; if it lacks hard links as well, checks that the
/// new name is free before it renames.
pub(crate) fn rename_new(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> Result<Guard, Errno> {
    match rename_noreplace(from, to) {
        Err(errno) if lacks_rename_flags(errno) => {}
        result => return result.map(|()| Guard::System),
    }
    match link(from, to) {
        Err(errno) if lacks_links(errno) => rename_checked(from, to).map(|()| Guard::Checked),
        result => result.map(|()| {
            // No other program knows a random name. If it stays, a later sweep removes it.
            let unlink = || retry_on_intr(|| rustix::fs::unlinkat(from.0, from.1, AtFlags::empty()));
            let _ = unlink().or_else(|_| unlink());
            Guard::System
        }),
    }
}

/// Renames in one step to a name that must be free; fails with an errno of [`lacks_rename_flags`] where the file system
/// cannot.
pub(crate) fn rename_noreplace(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE))
}

/// Gives a file a second name, which must be free.
pub(crate) fn link(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty()))
}

/// Renames after a check that the new name is free.
pub(crate) fn rename_checked(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> Result<(), Errno> {
    if handle::stat_at(to.0, to.1)?.is_some() {
        return Err(Errno::EXIST);
    }
    retry_on_intr(|| rustix::fs::renameat(from.0, from.1, to.0, to.1))
}

/// Returns true if a rename failed because the file system or the kernel does not support its flags.
pub(crate) fn lacks_rename_flags(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Returns true if a hard link failed because the file system has none, or not for this entry.
pub(crate) fn lacks_links(errno: Errno) -> bool {
    // A missing permission is EPERM, too; the rename that follows needs the same and fails with it again.
    matches!(errno, Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK)
}
