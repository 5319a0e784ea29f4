//! System calls on folder handles, with names of one component.
//!
//! No call here takes a path with a slash, and none follows a link.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, StatxAttributes, StatxFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::error::ReadOnlyReason;
use crate::metadata::{FileKind, Metadata};

/// Flags of every `open`.
pub(crate) const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);
/// Opens a folder to resolve names in; needs no permission to list it.
pub(crate) const FOLDER_PATH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
/// Opens a folder to list or sync it.
pub(crate) const FOLDER_LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK);
/// Opens an entry of any kind, for its metadata only.
pub(crate) const ANY_PATH: OFlags = OFlags::PATH;
/// Opens a regular file to read it. Only for [`open_regular`]: a program at the other end of a FIFO, or a driver,
/// sees such an open.
const FILE_READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens the entry `name` of `folder`. A link is opened itself with `O_PATH`, and is ELOOP without.
pub(crate) fn open_at(folder: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(folder.as_fd(), name, flags | ALWAYS, Mode::empty()))
}

/// Reopens an `O_PATH` folder handle for listing.
pub(crate) fn reopen_folder(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    open_at(folder, b".", FOLDER_LIST)
}

/// Opens the entry `name` of `folder` for reading if it is a regular file; otherwise returns its kind.
pub(crate) fn open_regular_at(folder: impl AsFd, name: &[u8]) -> Result<Result<OwnedFd, FileKind>, Errno> {
    let entry = open_at(folder.as_fd(), name, ANY_PATH)?;
    let kind = stat(&entry)?.kind;
    open_regular(&entry, kind, |flags| open_at(folder.as_fd(), name, flags))
}

/// Opens an `O_PATH` handle of the given kind for reading if it is a regular file; otherwise returns the kind.
///
/// The entry is opened by its handle, so that no FIFO or device can take its name in between. Without `/proc` it is
/// opened with `by_name` and the flags for it, and compared: EAGAIN if the name has another entry by then.
pub(crate) fn open_regular(
    entry: &OwnedFd,
    kind: FileKind,
    by_name: impl FnOnce(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<Result<OwnedFd, FileKind>, Errno> {
    if kind != FileKind::File {
        return Ok(Err(kind));
    }
    // Of the thread and not of the process: a thread may have handles of its own.
    let link = format!("/proc/thread-self/fd/{}", entry.as_raw_fd());
    let flags = FILE_READ | OFlags::CLOEXEC;
    match retry_on_intr(|| rustix::fs::open(&*link, flags, Mode::empty())) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
            let opened = by_name(FILE_READ)?;
            if stat(&opened)?.is_same_object(&stat(entry)?) { Ok(Ok(opened)) } else { Err(Errno::AGAIN) }
        }
        opened => opened.map(Ok),
    }
}

/// Reads the metadata of an open file.
pub(crate) fn stat(handle: impl AsFd) -> Result<Metadata, Errno> {
    rustix::fs::fstat(handle).map(|stat| Metadata::from_stat(&stat))
}

/// Reads the metadata of the entry `name` of `folder`, without following it; `None` if there is none.
pub(crate) fn stat_at(folder: impl AsFd, name: &[u8]) -> Result<Option<Metadata>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Metadata::from_stat(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Returns what keeps every user, root included, from replacing the entry `name` of `folder`. Without support in file system or kernel the
/// rename itself fails.
pub(crate) fn mark_at(folder: impl AsFd, name: &[u8]) -> Option<ReadOnlyReason> {
    let marks = rustix::fs::statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty()).ok()?;
    // A bit outside of the mask is unsupported by the file system, not unset.
    let marks = marks.stx_attributes & marks.stx_attributes_mask;
    if marks.contains(StatxAttributes::IMMUTABLE) {
        Some(ReadOnlyReason::Immutable)
    } else if marks.contains(StatxAttributes::APPEND) {
        Some(ReadOnlyReason::AppendOnly)
    } else if marks.contains(StatxAttributes::MOUNT_ROOT) {
        Some(ReadOnlyReason::MountPoint)
    } else {
        None
    }
}

/// Returns true if a rename or removal of the entry `name` failed with EBUSY because it is a mount point. Kernels before
/// 5.8 do not report mount points; there is hardly another reason for EBUSY then.
pub(crate) fn is_busy_mount(folder: impl AsFd, name: &[u8]) -> bool {
    rustix::fs::statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty()).is_ok_and(|statx| {
        let is_reported = statx.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
        !is_reported || statx.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
    })
}

/// Returns the target of a link that was opened with `O_PATH`.
pub(crate) fn link_target(link: impl AsFd) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(link, c"", Vec::new()).map(std::ffi::CString::into_bytes)
}
