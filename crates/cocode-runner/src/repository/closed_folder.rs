//! Folders that are closed to every user except their owner, and folders of a worktree that an agent has closed even to the
//! owner.
//!
//! Only git reads an agent's git folders, object by object. No other user of the machine needs access, neither to run the
//! agent's files nor to add any.
//!
//! Git skips a folder that it cannot list, with a warning, and would miss uncommitted files in it. So the folders of a
//! worktree are reopened.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat, openat2, statat};
use rustix::io::Errno;

/// The mode of a closed folder, and the owner's permissions on an open one.
const OWNER: u32 = 0o700;

/// Opens a folder whatever its mode, and no link to one.
const HELD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The most entries of a worktree that are visited.
const MOST_ENTRIES: usize = 5_000_000;

/// The most bytes of the paths of queued folders.
const MOST_WAITING_BYTES: usize = 256 << 20;

/// Makes a folder that is closed from the start, and its missing parents. An existing folder keeps its mode.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWNER).create(folder)
}

/// Closes an existing folder. A symlink at its path is not followed; a missing folder is not an error.
pub(crate) fn close(folder: &Path) -> io::Result<()> {
    // The descriptor pins the folder, so a symlink that replaces it after the check is not followed either.
    let held = match open(folder, HELD, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        other => other?,
    };
    if fs::metadata(path_of(&held))?.permissions().mode() & 0o7777 == OWNER {
        return Ok(());
    }
    set_mode(&held, OWNER)
}

/// Restores the owner's permissions on the folders of a worktree. Returns those that git still cannot read: folders of
/// another user, folders whose paths are too long for the system, and folders beyond the limits.
///
/// No symlink is followed, and no other file system is entered. No process of the agent may be running any more.
pub(crate) fn reopen_worktree(root: &Path) -> Vec<PathBuf> {
    let mut unseen = Vec::new();
    // The agent may have removed the whole worktree.
    let Ok(top) = open(root, HELD, Mode::empty()) else { return unseen };
    let (mut count, mut waiting_bytes) = (0, 0);
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        waiting_bytes -= folder.as_os_str().len();
        let inner = reopen(&top, &folder).and_then(|held| folders_in(&held, &mut count));
        let inner = match inner {
            Ok(inner) => inner,
            // The user's mounts are not the agent's.
            Err(Errno::XDEV | Errno::NOENT) => continue,
            Err(_) => {
                unseen.push(folder);
                continue;
            }
        };
        // The worktree's own `.git` is checked elsewhere.
        let is_nested = !folder.as_os_str().is_empty();
        let inner = inner.into_iter().filter(|name| is_nested || name != ".git");
        for path in inner.map(|name| folder.join(name)) {
            waiting_bytes += path.as_os_str().len();
            waiting.push(path);
        }
        if count > MOST_ENTRIES || waiting_bytes > MOST_WAITING_BYTES {
            unseen.append(&mut waiting);
        }
    }
    unseen
}

/// Restores the owner's permissions on one folder of a worktree, which is `top`.
fn reopen(top: &OwnedFd, folder: &Path) -> rustix::io::Result<OwnedFd> {
    let path = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let resolve_flags = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let held = match openat2(top, path, HELD, Mode::empty(), resolve_flags) {
        // A container may forbid this call. Since no agent runs, the folders on the way are not being replaced by links.
        Err(Errno::NOSYS | Errno::PERM) => openat(top, path, HELD, Mode::empty())?,
        held => held?,
    };
    let mode = fstat(&held)?.st_mode;
    if mode & OWNER != OWNER {
        // Another user's folder stays closed, and cannot be listed then.
        let _ = set_mode(&held, (mode & 0o7777) | OWNER);
    }
    Ok(held)
}

/// Returns the names of the folders in a folder, and counts its entries.
fn folders_in(held: &OwnedFd, count: &mut usize) -> rustix::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    let listed = openat(held, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for entry in Dir::new(listed)? {
        let entry = entry?;
        let name = entry.file_name();
        *count += 1;
        if *count > MOST_ENTRIES {
            return Err(Errno::TOOBIG);
        }
        let is_folder = match entry.file_type() {
            FileType::Unknown => statat(held, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|data| FileType::from_raw_mode(data.st_mode) == FileType::Directory),
            kind => kind == FileType::Directory,
        };
        if is_folder && !matches!(name.to_bytes(), b"." | b"..") {
            names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
        }
    }
    Ok(names)
}

/// `fchmod` refuses a descriptor that was opened with `O_PATH`; its path in `/proc` does not.
fn set_mode(held: &OwnedFd, mode: u32) -> io::Result<()> {
    fs::set_permissions(path_of(held), Permissions::from_mode(mode))
}

fn path_of(held: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()))
}
