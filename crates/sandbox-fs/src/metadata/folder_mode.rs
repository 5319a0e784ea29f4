//! The permission bits of folders.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rel_path::RelPath;
use rustix::fs::Mode;
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle::{self, FOLDER_LIST, FOLDER_PATH};
use crate::root::FileRoot;

impl FileRoot {
    /// Gives the folder `path` the permission bits `mode`, cut to `0o777`; its set-group and sticky bit stay. Answers
    /// with those that it had, special bits included.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFolder`], [`FsError::NotFound`], [`FsError::IsLink`], and those of every change.
    pub fn set_folder_mode(&self, path: &RelPath, mode: u32) -> Result<u32, FsError> {
        let place = self.place(path)?;
        let error = |errno| match errno {
            Errno::NOENT => FsError::NotFound { path: place.path.clone() },
            Errno::NOTDIR => FsError::NotAFolder { path: place.path.clone() },
            Errno::LOOP => FsError::IsLink { path: place.path.clone(), target: None },
            other => FsError::from_errno(other, &place.path),
        };
        let folder = handle::open_at(&place.folder, &place.name, FOLDER_PATH).map_err(error)?;
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
        // Whoever may not list a folder may own it all the same, and the handle still says which one is meant.
        Err(Errno::ACCESS) => {
            let number = folder.as_fd().as_raw_fd();
            rustix::fs::chmod(format!("/proc/self/fd/{number}"), mode)
        }
        Err(other) => Err(other),
    }
}
