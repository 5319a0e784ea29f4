//! Reading the content that the workspace had before a change was adopted.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::error::LayerError;
use crate::handle::{self, FILE_READ, Kind};
use crate::layer::Layer;
use crate::scan::change::{LayerChange, Side};

impl Layer {
    /// Opens the file that the workspace had at a change's path before the change was adopted; `None` if that
    /// was not a regular file, or the change was not adopted.
    ///
    /// # Errors
    ///
    /// [`LayerError::System`].
    pub fn open_before(&self, change: &LayerChange) -> Result<Option<File>, LayerError> {
        let open = || -> Result<Option<OwnedFd>, Errno> {
            let Some(before) = change.before_stamp else { return Ok(None) };
            let open = |folder: &dyn AsFd, name: &[u8]| match handle::stat_at(folder, name)? {
                Some(entry) if entry.kind == Kind::File && entry.inode == before.inode => {
                    handle::open_at(folder, name, FILE_READ).map(Some)
                }
                _ => Ok(None),
            };
            if change.moves_out() {
                return open(&self.taken, &Layer::taken_name(change));
            }
            match self.upper_entry(&change.path) {
                Ok((folder, name)) => open(&folder, name),
                Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
                Err(other) => Err(other),
            }
        };
        if !matches!(change.before, Some(Side::File { .. })) {
            return Ok(None);
        }
        Ok(open().map_err(|errno| LayerError::at(&change.path, errno))?.map(File::from))
    }
}
