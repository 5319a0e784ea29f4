//! System calls on folder handles, with names of one component. Nothing here follows a link.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, fchown};
use rustix::io::{Errno, retry_on_intr};

/// Flags that every opening has.
const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);
/// A folder to list.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// A folder to resolve names in. Needs no permission to list it.
pub(crate) const FOLDER_PATH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
/// A file to read, without blocking if it turns out to be a pipe.
pub(crate) const FILE_READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// The unit in which the operating system counts the space of a file.
const BLOCK_BYTES: u64 = 512;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// A character device with the numbers 0 and 0, with which an overlay marks a removed entry.
    Whiteout,
    /// Any other device.
    Device,
    /// A pipe or a socket.
    Special,
}

/// The metadata of an entry itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// Permission bits, `0o7777`.
    pub(crate) mode: u32,
    pub(crate) size_bytes: u64,
    /// The bytes of it that have been written, at most: holes take no space.
    pub(crate) allocated_bytes: u64,
    pub(crate) links: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// Nanoseconds since 1970.
    pub(crate) modified: i128,
    /// The time of the last change of content, names or permissions, in nanoseconds since 1970.
    pub(crate) changed: i128,
}

impl Entry {
    #[expect(clippy::unnecessary_cast, reason = "the widths of these fields differ between processors")]
    fn from_stat(stat: &Stat) -> Entry {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::CharacterDevice if stat.st_rdev == 0 => Kind::Whiteout,
            FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
            _ => Kind::Special,
        };
        let size_bytes = u64::try_from(stat.st_size).unwrap_or(0);
        Entry {
            kind,
            mode: stat.st_mode & 0o7777,
            size_bytes,
            // The last block may be larger than its part of the file.
            allocated_bytes: (stat.st_blocks as u64).saturating_mul(BLOCK_BYTES).min(size_bytes),
            links: stat.st_nlink as u64,
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            user: stat.st_uid,
            group: stat.st_gid,
            modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

pub(crate) fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// Opens the entry `name` of `folder`.
pub(crate) fn open_at(folder: impl AsFd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(folder.as_fd(), name, flags | ALWAYS, Mode::empty()))
}

/// Opens the entry `name` of `folder` itself only to keep its inode: as long as the handle lives, no new entry gets the same number.
/// `None` if it does not exist.
pub(crate) fn hold_at(folder: impl AsFd, name: &[u8]) -> Result<Option<(OwnedFd, Entry)>, Errno> {
    let handle = match open_at(folder, name, OFlags::PATH | OFlags::NOFOLLOW) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(None),
        Err(other) => return Err(other),
    };
    let entry = stat(&handle)?;
    Ok(Some((handle, entry)))
}

/// Makes the file `name`, which must not exist.
pub(crate) fn create_at(folder: impl AsFd, name: &[u8], mode: u32) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | ALWAYS;
    retry_on_intr(|| rustix::fs::openat(folder.as_fd(), name, flags, Mode::from_raw_mode(mode)))
}

/// Reads the metadata of the entry that a handle refers to.
pub(crate) fn stat(handle: impl AsFd) -> Result<Entry, Errno> {
    rustix::fs::fstat(handle).map(|stat| Entry::from_stat(&stat))
}

/// Reads the metadata of the entry `name` of `folder` itself; `None` if it does not exist.
pub(crate) fn stat_at(folder: impl AsFd, name: &[u8]) -> Result<Option<Entry>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Entry::from_stat(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The names in a folder that was opened with [`FOLDER`], sorted by their bytes.
pub(crate) fn names(folder: impl AsFd) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    // `read_from` opens a description of its own, so concurrent readers of the handle keep their positions.
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Reads the target of a link, verbatim.
pub(crate) fn link_target(folder: impl AsFd, name: &[u8]) -> Result<Vec<u8>, Errno> {
    rustix::fs::readlinkat(folder, name, Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Gives an entry that is known to be no link these permission bits.
pub(crate) fn set_mode_at(folder: impl AsFd, name: &[u8], mode: u32) -> Result<(), Errno> {
    rustix::fs::chmodat(folder, name, Mode::from_raw_mode(mode), AtFlags::empty())
}

/// Renames to a name that must be free.
pub(crate) fn rename_new(from: (impl AsFd, &[u8]), to: (impl AsFd, &[u8])) -> Result<(), Errno> {
    rename(&from, &to, RenameFlags::NOREPLACE)
}

/// Renames to a name that may be in use, and is then replaced.
pub(crate) fn rename_over(from: (impl AsFd, &[u8]), to: (impl AsFd, &[u8])) -> Result<(), Errno> {
    rename(&from, &to, RenameFlags::empty())
}

/// Exchanges the entries of two names.
pub(crate) fn exchange(one: (impl AsFd, &[u8]), other: (impl AsFd, &[u8])) -> Result<(), Errno> {
    rename(&one, &other, RenameFlags::EXCHANGE)
}

fn rename(from: &(impl AsFd, &[u8]), to: &(impl AsFd, &[u8]), flags: RenameFlags) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::renameat_with(from.0.as_fd(), from.1, to.0.as_fd(), to.1, flags))
}

pub(crate) fn unlink_at(folder: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    rustix::fs::unlinkat(folder, name, AtFlags::empty())
}

pub(crate) fn remove_folder_at(folder: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Returns a path to an entry through its folder's handle, for calls that only take paths.
pub(crate) fn path_at(folder: impl AsFd, name: &[u8]) -> Vec<u8> {
    let mut path = format!("/proc/self/fd/{}/", folder.as_fd().as_raw_fd()).into_bytes();
    path.extend_from_slice(name);
    path
}

/// Gives the entry that a handle refers to the owner and group of another, as far as this user may.
///
/// An ordinary user in another user's folder keeps its own files, and relies on the permissions of the group.
pub(crate) fn give_like(handle: impl AsFd, model: &Entry) -> Result<(), Errno> {
    let own = stat(&handle)?;
    if (own.user, own.group) == (model.user, model.group) {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(model.user), Gid::from_raw(model.group));
    match fchown(&handle, Some(user), Some(group)).or_else(|_| fchown(&handle, None, Some(group))) {
        Ok(()) | Err(Errno::PERM) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Sets the permission bits of the entry that a handle refers to; an `O_PATH` handle is enough.
pub(crate) fn set_mode(handle: impl AsFd, mode: u32) -> Result<(), Errno> {
    rustix::fs::chmod(path_of(handle), Mode::from_raw_mode(mode))
}

/// Returns a path to the entry that a handle refers to, for calls that do not take `O_PATH` handles.
pub(crate) fn path_of(handle: impl AsFd) -> String {
    format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())
}

/// Returns whether this process ignores permission bits.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
