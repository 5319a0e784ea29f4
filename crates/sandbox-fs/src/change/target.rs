//! Dry runs: the checks and the target of a change, without the change.

use rel_path::RelPath;

use crate::error::FsError;
use crate::metadata::{FileKind, Metadata};
use crate::root::FileRoot;

/// The target of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteTarget {
    /// The canonical path. Where the file system ignores case, and the file exists, in the spelling that its folder lists.
    pub path: RelPath,
    /// The regular file that would be replaced, if there is one.
    pub existing: Option<Metadata>,
    /// The missing parent folders, outermost first.
    pub missing_folders: Vec<RelPath>,
}

impl FileRoot {
    /// Returns the target of a write to `path`, after all the checks that [`FileRoot::stage`] and
    /// [`FileRoot::create_dirs`] make before they write.
    ///
    /// # Errors
    ///
    /// Those of [`FileRoot::stage`], except for a missing folder.
    pub fn write_target(&self, path: &RelPath) -> Result<WriteTarget, FsError> {
        match self.dir_entry(path) {
            Ok(entry) => {
                let existing = self.check_replaceable(&entry)?;
                let path = self.checked_stored_path(entry.path)?;
                Ok(WriteTarget { path, existing, missing_folders: Vec::new() })
            }
            Err(FsError::ParentMissing { .. }) => {
                let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder });
                };
                let missing_folders = self.missing_folders(&folder)?;
                // Outermost first, so the last one is the parent. None is left if the folder was made meanwhile.
                let innermost = missing_folders.last().unwrap_or(&folder);
                let path = self.checked_stored_path(innermost.child(name)?)?;
                self.check_protected(&path)?;
                self.check_new_name(&path, name)?;
                // In the spelling of the folders above them.
                let mut above: Vec<_> = std::iter::successors(path.parent(), RelPath::parent).collect();
                above.truncate(missing_folders.len());
                above.reverse();
                let missing_folders = above;
                Ok(WriteTarget { path, existing: None, missing_folders })
            }
            Err(other) => Err(other),
        }
    }

    /// Returns the canonical path of the file or link that [`FileRoot::remove_file`] would remove. Where the file system
    /// ignores case, it is in the spelling that the folder lists.
    ///
    /// # Errors
    ///
    /// Those of [`FileRoot::remove_file`].
    pub fn delete_target(&self, path: &RelPath) -> Result<RelPath, FsError> {
        let (entry, _) = self.removable(path)?;
        self.checked_stored_path(entry.path)
    }

    /// Returns the path as it is stored, unless that is protected: a short name of vfat stands for a long one.
    fn checked_stored_path(&self, canonical: RelPath) -> Result<RelPath, FsError> {
        let stored = self.stored_path(&canonical)?;
        if stored != canonical {
            self.check_protected(&stored)?;
        }
        Ok(stored)
    }
}
