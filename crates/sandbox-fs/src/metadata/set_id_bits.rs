//! Taking set-user-ID and set-group-ID bits away.

use std::os::fd::AsRawFd;

use rel_path::RelPath;
use rustix::fs::{FileType, Mode};

use crate::error::FsError;
use crate::handle::{self, ANY_PATH};
use crate::root::FileRoot;

/// The set-user-ID and the set-group-ID bit.
const SET_ID_BITS: u32 = 0o6000;

impl FileRoot {
    /// Takes the set-user-ID and set-group-ID bits from a file or folder, but for those of `kept`. Says whether it had
    /// any; what is neither file nor folder has none that count.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], and those of every change.
    pub fn remove_set_id_bits(&self, path: &RelPath, kept: u32) -> Result<bool, FsError> {
        let place = self.place(path)?;
        let error = |errno| FsError::from_errno(errno, &place.path);
        let handle = handle::open_at(&place.folder, &place.name, ANY_PATH).map_err(error)?;
        let found = rustix::fs::fstat(&handle).map_err(error)?;
        let is_meant =
            matches!(FileType::from_raw_mode(found.st_mode), FileType::RegularFile | FileType::Directory);
        let had = found.st_mode & 0o7777;
        let mode = had & !(SET_ID_BITS & !kept);
        if !is_meant || mode == had {
            return Ok(false);
        }
        // Not every file may be opened by its owner, and the handle says which one is meant.
        rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode))
            .map_err(error)?;
        Ok(true)
    }
}
