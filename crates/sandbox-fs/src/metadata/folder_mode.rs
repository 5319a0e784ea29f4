//! The permission bits of folders.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rel_path::RelPath;
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle::{self, FOLDER_LIST, FOLDER_PATH};
use crate::root::FileRoot;

impl FileRoot {
    /// Sets the permission bits of the folder `path` to `mode & 0o777`; its set-group and sticky bit stay.
    /// Returns the previous bits, special ones included.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFolder`], [`FsError::NotFound`], [`FsError::IsLink`], and those of every change.
    pub fn set_folder_mode(&self, path: &RelPath, mode: u32) -> Result<u32, FsError> {
        let entry = self.dir_entry(path)?;
        let error = |errno| match errno {
            Errno::NOENT => FsError::NotFound { path: entry.path.clone() },
            Errno::NOTDIR => FsError::NotAFolder { path: entry.path.clone() },
            Errno::LOOP => FsError::IsLink { path: entry.path.clone(), target: None },
            other => FsError::from_errno(other, &entry.path),
        };
        let folder = handle::open_at(&entry.folder, &entry.name, FOLDER_PATH).map_err(error)?;
        let had = handle::stat(&folder).map_err(error)?.mode;
        let wanted = Mode::from_raw_mode(had & 0o7000 | mode & 0o777);
        if had != wanted.bits() {
            change_mode(&folder, wanted).map_err(error)?;
        }
        Ok(had)
    }
}

fn change_mode(folder: &OwnedFd, mode: Mode) -> Result<(), Errno> {
    match handle::open_at(folder, b".", FOLDER_LIST) {
        Ok(folder) => rustix::fs::fchmod(folder, mode),
        // The owner may lack permission to list the folder. The handle still refers to the same folder.
        Err(Errno::ACCESS) => {
            let number = folder.as_fd().as_raw_fd();
            rustix::fs::chmod(format!("/proc/self/fd/{number}"), mode)
        }
        Err(other) => Err(other),
    }
}
