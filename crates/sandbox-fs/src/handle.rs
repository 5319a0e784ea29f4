//! System calls on folder handles, with names of one component.
//!
//! Nothing here looks at a path with a slash in it, and nothing follows a link.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, StatxAttributes, StatxFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::error::ReadOnlyReason;
use crate::metadata::Metadata;

/// Flags that every opening has.
pub(crate) const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);
/// A folder to resolve names in. Needs no permission to list it.
pub(crate) const FOLDER_PATH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
/// A folder to list or to sync.
pub(crate) const FOLDER_LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK);
/// Anything at all, only to ask about it.
pub(crate) const ANY_PATH: OFlags = OFlags::PATH;
/// A file to read, which must not block when it turns out to be something else.
pub(crate) const FILE_READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens the entry `name` of `folder`; a link is opened itself with `O_PATH` and is ELOOP without.
pub(crate) fn open_at(folder: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(folder.as_fd(), name, flags | ALWAYS, Mode::empty()))
}

/// Opens the folder behind a handle that only allowed resolving.
pub(crate) fn reopen_folder(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    open_at(folder, b".", FOLDER_LIST)
}

/// Asks about what is behind a handle.
pub(crate) fn stat(handle: impl AsFd) -> Result<Metadata, Errno> {
    rustix::fs::fstat(handle).map(|stat| Metadata::from_stat(&stat))
}

/// Asks about the entry `name` of `folder` itself; `None` if there is none.
pub(crate) fn stat_at(folder: impl AsFd, name: &[u8]) -> Result<Option<Metadata>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Metadata::from_stat(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The mark on the entry `name` that keeps everybody, root too, from replacing it. File systems without such marks, and
/// kernels without the question, leave it to the rename.
pub(crate) fn mark_at(folder: impl AsFd, name: &[u8]) -> Option<ReadOnlyReason> {
    let marks = rustix::fs::statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty()).ok()?;
    let marks = marks.stx_attributes & marks.stx_attributes_mask;
    if marks.contains(StatxAttributes::IMMUTABLE) {
        Some(ReadOnlyReason::Immutable)
    } else if marks.contains(StatxAttributes::APPEND) {
        Some(ReadOnlyReason::AppendOnly)
    } else {
        None
    }
}

/// The target of the link behind a handle that was opened with `O_PATH`.
pub(crate) fn link_target(link: impl AsFd) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(link, c"", Vec::new()).map(std::ffi::CString::into_bytes)
}
