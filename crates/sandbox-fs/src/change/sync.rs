//! Syncing files and folders, so that changes survive a power cut.

use rel_path::RelPath;

use crate::error::FsError;
use crate::handle::FOLDER_LIST;
use crate::policy::LinkRule;
use crate::resolve::Last;
use crate::root::FileRoot;

impl FileRoot {
    /// Syncs the content of a file; [`FileRoot::sync_folder`] syncs its name.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`] if the device failed, [`FsError::NotAFile`], and those of finding the file.
    pub fn sync_file(&self, path: &RelPath) -> Result<(), FsError> {
        let (opened, path) = self.resolver.open_regular(path, LinkRule::Refuse)?;
        let handle = opened.map_err(|kind| FsError::NotAFile { path: path.clone(), kind })?;
        rustix::fs::fsync(handle).map_err(|errno| FsError::from_errno(errno, &path))
    }

    /// Syncs the names in a folder.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`] if the device failed, and those of finding the folder.
    pub fn sync_folder(&self, path: &RelPath) -> Result<(), FsError> {
        let (handle, path) = self.resolver.open(path, FOLDER_LIST, Last::Folder, LinkRule::Refuse)?;
        rustix::fs::fsync(handle).map_err(|errno| FsError::from_errno(errno, &path))
    }
}
