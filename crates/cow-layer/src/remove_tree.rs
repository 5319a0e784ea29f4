//! Removing a tree of the layer, whatever a command made of it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::access::OWN_FOLDER;
use crate::handle::{self, FOLDER, Kind};

/// How many folders are open at one time. What lies deeper is first moved up.
const DEPTH: usize = 64;

/// A folder that is being emptied.
struct Level {
    folder: OwnedFd,
    name: Vec<u8>,
    pending: Vec<Vec<u8>>,
}

impl Level {
    /// Opens a folder, which gets all permissions that its owner can have, for good.
    fn enter(parent: impl AsFd, name: &[u8], mode: u32) -> Result<Level, Errno> {
        if mode & OWN_FOLDER != OWN_FOLDER {
            handle::set_mode_at(&parent, name, mode | OWN_FOLDER)?;
        }
        let folder = handle::open_at(&parent, name, FOLDER)?;
        let pending = handle::names(&folder)?;
        Ok(Level { folder, name: name.to_vec(), pending })
    }
}

/// Removes the entry `name` of `parent` with everything in it; one that is not there is no error.
pub(crate) fn remove(parent: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    let parent = parent.as_fd();
    let Some(found) = handle::stat_at(parent, name)? else { return Ok(()) };
    if found.kind != Kind::Folder {
        return handle::unlink_at(parent, name);
    }
    let mut levels = vec![Level::enter(parent, name, found.mode)?];
    let mut moved_up = 0_u64;
    while let Some(level) = levels.last_mut() {
        let Some(child) = level.pending.pop() else {
            let name = std::mem::take(&mut level.name);
            levels.pop();
            let above = levels.last().map_or(parent, |above| above.folder.as_fd());
            handle::remove_folder_at(above, &name)?;
            continue;
        };
        match handle::unlink_at(&level.folder, &child) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(other) => return Err(other),
        }
        let found = handle::stat_at(&level.folder, &child)?.ok_or(Errno::BUSY)?;
        if found.kind != Kind::Folder {
            return Err(Errno::PERM);
        }
        if levels.len() < DEPTH {
            let folder = &levels[levels.len() - 1].folder;
            let below = Level::enter(folder, &child, found.mode)?;
            levels.push(below);
        } else {
            let name = move_up(&levels, &child, found.mode, &mut moved_up)?;
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
