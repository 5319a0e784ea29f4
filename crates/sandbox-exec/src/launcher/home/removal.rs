//! Removing a tree that commands wrote, whatever its depth and permissions.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, StatxFlags, openat, renameat_with,
    statx, unlinkat,
};
use rustix::io::{Errno, Result};

/// The greatest number of folders open at a time. Deeper ones are moved up first.
const DEPTH: usize = 64;

/// The rights that the owner of a folder needs to empty it.
const OWN_FOLDER: RawMode = 0o700;

/// A folder that is being emptied.
struct Level {
    folder: OwnedFd,
    name: OsString,
    pending: Vec<OsString>,
}

/// Removes a file or folder with everything in it, whatever its depth and permissions. A missing one is not an error, and
/// links are not followed.
///
/// For trees that commands wrote: they may be deeper than the limits on open files or path lengths, and hold folders
/// that their owner has closed to itself.
///
/// # Errors
///
/// The system's, such as for a file of another user. Parts of the tree may then be gone.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match openat(CWD, parent, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    Ok(remove(&parent, name.to_owned())?)
}

fn remove(parent: &OwnedFd, name: OsString) -> Result<()> {
    if unlink(parent, &name)? {
        return Ok(());
    }
    let mut levels = vec![Level::enter(parent, name)?];
    let mut moved_up = 0_u64;
    while let Some(level) = levels.last_mut() {
        let Some(child) = level.pending.pop() else {
            let name = std::mem::take(&mut level.name);
            levels.pop();
            let above = levels.last().map_or(parent, |above| &above.folder);
            unlinkat(above, name, AtFlags::REMOVEDIR)?;
            continue;
        };
        if unlink(&level.folder, &child)? {
            continue;
        }
        if levels.len() < DEPTH {
            let below = Level::enter(&levels[levels.len() - 1].folder, child)?;
            levels.push(below);
        } else {
            let name = move_up(&levels, &child, &mut moved_up)?;
            levels[0].pending.push(name);
        }
    }
    Ok(())
}

impl Level {
    fn enter(parent: &OwnedFd, name: OsString) -> Result<Level> {
        open_up(parent.as_fd(), &name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(parent, &name, flags, Mode::empty())?;
        let mut pending = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            if name != "." && name != ".." {
                pending.push(name);
            }
        }
        Ok(Level { folder, name, pending })
    }
}

/// Removes an entry that is not a folder; returns false for a folder.
fn unlink(parent: &OwnedFd, name: &OsString) -> Result<bool> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Gives the owner of a folder the right to list and change it.
pub(super) fn open_up(parent: impl AsFd, name: &OsString) -> Result<()> {
    let status = statx(&parent, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE | StatxFlags::MODE)?;
    let mode = RawMode::from(status.stx_mode);
    if FileType::from_raw_mode(mode) == FileType::Directory && mode & OWN_FOLDER != OWN_FOLDER {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&parent, name, flags, Mode::empty())?;
        let mode = Mode::from_raw_mode((mode & 0o777) | OWN_FOLDER);
        // Through this name no link can have replaced it.
        rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode)?;
    }
    Ok(())
}

/// Moves a folder of the last level into the first one, under a name that is free there.
fn move_up(levels: &[Level], child: &OsString, moved_up: &mut u64) -> Result<OsString> {
    let (top, folder) = (&levels[0].folder, &levels[levels.len() - 1].folder);
    // The owner of a folder without permissions may not move it either.
    open_up(folder.as_fd(), child)?;
    loop {
        *moved_up += 1;
        let name = OsString::from(format!("moved-up-{moved_up}"));
        match renameat_with(folder, child, top, &name, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn deep_and_closed_folders_are_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        fs::create_dir_all(tree.join("closed/inside")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "").unwrap();
        std::os::unix::fs::symlink(&outside, tree.join("link")).unwrap();
        fs::set_permissions(tree.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut deepest = openat(CWD, &tree, flags, Mode::empty()).unwrap();
        // Far deeper than the longest path.
        for _ in 0..3_000 {
            mkdirat(&deepest, "d", Mode::RWXU).unwrap();
            deepest = openat(&deepest, "d", flags, Mode::empty()).unwrap();
        }
        remove_tree(&tree).unwrap();
        assert!(!tree.exists() && outside.join("kept").exists());
        remove_tree(&tree).unwrap();
    }
}
