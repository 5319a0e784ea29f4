//! Loose objects: those that are not packed yet.
//!
//! Agents that share the repository's objects write into its folders, and could remove and replace existing objects there.
//! Packs are read-only for them, and git searches packs first.

use std::fs::{self, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::repository::Repository;
use crate::repository::git::GitError;

/// The number of letters of an object's name that are the name of its folder.
const FOLDER_LETTERS: usize = 2;

/// The owner's permissions on a folder of objects: read, write and search.
const OWNER: u32 = 0o700;

/// Writes a pack of all loose objects. The loose files stay, as they do when git packs.
pub(crate) fn pack(repository: &Repository) -> Result<(), GitError> {
    let objects = repository.common_folder.join("objects");
    let names = names(&objects);
    if names.is_empty() {
        return Ok(());
    }
    let target = objects.join("pack/pack");
    // No search for deltas, which would take most of the time.
    let arguments = ["pack-objects", "--incremental", "--non-empty", "--quiet", "--window=0"].map(Path::new);
    let arguments = [&arguments[..], &[target.as_path()]].concat();
    repository.git.feed(&repository.root, &arguments, &names)
}

/// Restores the owner's permissions on a folder of objects and on its folders, which an agent may have removed: git does
/// not recognise a repository without them. Returns whether any was missing.
///
/// An agent may replace such a folder by a symlink, also at this moment, so symlinks are not followed.
pub(crate) fn reopen(objects: &Path) -> bool {
    // The folder itself first: its entries are unreachable before.
    let was_closed = reopen_folder(objects);
    let fan_out = (0..=u8::MAX).map(|number| objects.join(format!("{number:02x}")));
    let folders = fan_out.chain([objects.join("pack")]);
    folders.filter(|folder| reopen_folder(folder)).count() > 0 || was_closed
}

/// Restores the owner's permissions on a folder and all folders below it, without which they cannot be removed. No agent
/// may run there any more.
pub(crate) fn reopen_all(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        reopen_folder(&folder);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.extend(inner.map(|entry| entry.path()));
    }
}

/// Restores the owner's permissions on one folder. Returns whether any was missing. A symlink is not followed.
pub(crate) fn reopen_folder(folder: &Path) -> bool {
    // `O_PATH` opens a folder without any permission on it. `fchmod` refuses such a handle, so the change goes through
    // `/proc/self/fd`, which leads to this folder even if its name was replaced.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(held) = rustix::fs::open(folder, flags, Mode::empty()) else { return false };
    let held = format!("/proc/self/fd/{}", held.as_raw_fd());
    let Ok(permissions) = fs::metadata(&held).map(|data| data.permissions()) else { return false };
    let mode = permissions.mode();
    mode & OWNER != OWNER && fs::set_permissions(&held, Permissions::from_mode(mode | OWNER)).is_ok()
}

/// Returns the names of all loose objects, a line each.
///
/// Only plain files in plain folders count: git would block on a pipe, and a symlink may lead anywhere.
fn names(objects: &Path) -> String {
    let is_name = |name: &str| name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut names = String::new();
    for folder in fs::read_dir(objects).into_iter().flatten().flatten() {
        if !folder.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let start = folder.file_name();
        let Some(start) = start.to_str().filter(|name| name.len() == FOLDER_LETTERS && is_name(name)) else {
            continue;
        };
        for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let rest = entry.file_name();
            let Some(rest) = rest.to_str().filter(|name| is_name(name)) else { continue };
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && matches!(start.len() + rest.len(), 40 | 64) {
                names.extend([start, rest, "\n"]);
            }
        }
    }
    names
}
