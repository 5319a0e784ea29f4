//! Finding out what a change would meet, without changing anything.

use rel_path::RelPath;

use crate::error::FsError;
use crate::metadata::{FileKind, Metadata};
use crate::root::FileRoot;

/// What a write to a path would meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteTarget {
    /// The canonical path.
    pub path: RelPath,
    /// The regular file that would be replaced, if there is one.
    pub existing: Option<Metadata>,
    /// The folders on the way that do not exist yet, outermost first.
    pub missing_folders: Vec<RelPath>,
}

impl FileRoot {
    /// Finds out what a write to `path` would meet, with all the checks that [`FileRoot::stage`] and
    /// [`FileRoot::create_dirs`] make before they write.
    ///
    /// # Errors
    ///
    /// Those of [`FileRoot::stage`], a missing folder apart.
    pub fn write_target(&self, path: &RelPath) -> Result<WriteTarget, FsError> {
        match self.place(path) {
            Ok(place) => {
                let existing = self.check_replaceable(&place)?;
                Ok(WriteTarget { path: place.path, existing, missing_folders: Vec::new() })
            }
            Err(FsError::ParentMissing { .. }) => {
                let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder });
                };
                let missing_folders = self.missing_folders(&folder)?;
                let outermost = missing_folders.last().unwrap_or(&folder);
                let path = outermost.child(name)?;
                self.check_protected(&path)?;
                self.check_new_name(&path, name)?;
                Ok(WriteTarget { path, existing: None, missing_folders })
            }
            Err(other) => Err(other),
        }
    }

    /// Finds the canonical path of what [`FileRoot::remove_file`] would remove; a link stands for itself.
    ///
    /// # Errors
    ///
    /// Those of [`FileRoot::remove_file`].
    pub fn delete_target(&self, path: &RelPath) -> Result<RelPath, FsError> {
        let (place, _) = self.removable(path)?;
        Ok(place.path)
    }
}
