//! Removing a tree of the layer, whatever its depth and permissions.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::access::OWN_FOLDER;
use crate::handle::{self, FOLDER, Kind};

/// The greatest number of folders open at a time. Deeper folders are first moved up.
const DEPTH: usize = 64;

/// A folder that is being emptied.
struct Level {
    folder: OwnedFd,
    name: Vec<u8>,
    pending: Vec<Vec<u8>>,
}

impl Level {
    /// Opens a folder and widens its permissions for good, since it is about to be removed.
    fn enter(parent: impl AsFd, name: &[u8], mode: u32) -> Result<Level, Errno> {
        if mode & OWN_FOLDER != OWN_FOLDER {
            handle::set_mode_at(&parent, name, mode | OWN_FOLDER)?;
        }
        let folder = handle::open_at(&parent, name, FOLDER)?;
        let pending = handle::names(&folder)?;
        Ok(Level { folder, name: name.to_vec(), pending })
    }
}

/// Removes the entry `name` of `parent` with everything in it; a missing entry is not an error.
pub(crate) fn remove(parent: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    let parent = parent.as_fd();
    let Some(entry) = handle::stat_at(parent, name)? else { return Ok(()) };
    if entry.kind != Kind::Folder {
        return handle::unlink_at(parent, name);
    }
    let mut levels = vec![Level::enter(parent, name, entry.mode)?];
    let mut moved_up = 0_u64;
    while let Some(level) = levels.last_mut() {
        let Some(child) = level.pending.pop() else {
            let name = std::mem::take(&mut level.name);
            levels.pop();
            let above = levels.last().map_or(parent, |above| above.folder.as_fd());
            handle::remove_folder_at(above, &name)?;
            continue;
        };
        // Most entries are files, so unlinking first saves a `stat` for each of them.
        match handle::unlink_at(&level.folder, &child) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(other) => return Err(other),
        }
        let entry = handle::stat_at(&level.folder, &child)?.ok_or(Errno::BUSY)?;
        if entry.kind != Kind::Folder {
            return Err(Errno::PERM);
        }
        if levels.len() < DEPTH {
            let folder = &levels[levels.len() - 1].folder;
            let below = Level::enter(folder, &child, entry.mode)?;
            levels.push(below);
        } else {
            // Moving up bounds the number of open folders without recursion on a path of any depth.
            let name = move_up(&levels, &child, entry.mode, &mut moved_up)?;
            levels[0].pending.push(name);
        }
    }
    Ok(())
}

/// Moves a folder of the last level into the first one, under a name that is free there.
fn move_up(levels: &[Level], child: &[u8], mode: u32, moved_up: &mut u64) -> Result<Vec<u8>, Errno> {
    let (top, folder) = (&levels[0].folder, &levels[levels.len() - 1].folder);
    if mode & OWN_FOLDER != OWN_FOLDER {
        // The owner of a folder without permissions may not move it either.
        handle::set_mode_at(folder, child, mode | OWN_FOLDER)?;
    }
    loop {
        *moved_up += 1;
        let name = format!("moved-up-{moved_up}").into_bytes();
        match handle::rename_new((folder, child), (top, &name)) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) => {}
            Err(other) => return Err(other),
        }
    }
}
