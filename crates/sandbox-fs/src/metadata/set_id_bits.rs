//! Removing set-user-ID and set-group-ID bits.

use std::os::fd::AsRawFd;

use rel_path::RelPath;
use rustix::fs::{FileType, Mode};

use crate::error::FsError;
use crate::handle::{self, ANY_PATH};
use crate::root::FileRoot;

/// The set-user-ID and the set-group-ID bit.
const SET_ID_BITS: u32 = 0o6000;

impl FileRoot {
    /// Removes the set-user-ID and set-group-ID bits of a file or folder, except those in `kept`. Returns true if
    /// it had any; other kinds are left alone.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], and those of every change.
    pub fn remove_set_id_bits(&self, path: &RelPath, kept: u32) -> Result<bool, FsError> {
        let entry = self.dir_entry(path)?;
        let error = |errno| FsError::from_errno(errno, &entry.path);
        let handle = handle::open_at(&entry.folder, &entry.name, ANY_PATH).map_err(error)?;
        let stat = rustix::fs::fstat(&handle).map_err(error)?;
        let is_meant =
            matches!(FileType::from_raw_mode(stat.st_mode), FileType::RegularFile | FileType::Directory);
        let had = stat.st_mode & 0o7777;
        let mode = had & !(SET_ID_BITS & !kept);
        if !is_meant || mode == had {
            return Ok(false);
        }
        // The owner may lack permission to open the file, so the `O_PATH` handle names it.
        rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode))
            .map_err(error)?;
        Ok(true)
    }
}
