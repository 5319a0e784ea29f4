//! Removing files, links and empty folders.

use rel_path::RelPath;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::change::dir_entry::{DirEntry, rename_new};
use crate::change::temp_name::new_temp_name;
use crate::error::FsError;
use crate::metadata::{FileKind, Metadata};
use crate::open_file::OpenFile;
use crate::root::FileRoot;
use content_hash::ContentHash;

/// A removed file or link.
#[derive(Debug)]
#[non_exhaustive]
pub struct Removed {
    /// Its former canonical path.
    pub path: RelPath,
    /// Its metadata before the removal.
    pub metadata: Metadata,
    /// The file itself, still open, if its content was checked. Shows a late write by a program that had it open,
    /// as [`Published::replaced`](crate::Published::replaced) does.
    pub content: Option<OpenFile>,
}

impl FileRoot {
    /// Removes a file, or a link itself. With `expected`, removes only a regular file with that content.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] for a folder; [`FsError::Changed`] if the content differs, and the file stays.
    pub fn remove_file(&self, path: &RelPath, expected: Option<&ContentHash>) -> Result<Removed, FsError> {
        let (entry, metadata) = self.removable(path)?;
        self.check_folder(&entry)?;
        let content = match expected {
            Some(hash) => Some(remove_expected(&entry, hash)?),
            None => {
                entry.unlink_name(&entry.name).map_err(|errno| FsError::from_errno(errno, &entry.path))?;
                None
            }
        };
        Ok(Removed { path: entry.path, metadata, content })
    }

    /// Resolves `path` for a removal, with all the checks that come before one.
    pub(crate) fn removable(&self, path: &RelPath) -> Result<(DirEntry, Metadata), FsError> {
        let entry = self.dir_entry(path)?;
        let metadata = entry.stat()?.ok_or_else(|| FsError::NotFound { path: entry.path.clone() })?;
        match metadata.kind {
            FileKind::Folder => return Err(FsError::NotAFile { path: entry.path, kind: metadata.kind }),
            FileKind::File => self.check_changeable(&entry, &metadata)?,
            _ => {}
        }
        Ok((entry, metadata))
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// [`FsError::FolderNotEmpty`], [`FsError::NotAFolder`], and those of every change.
    pub fn remove_empty_folder(&self, path: &RelPath) -> Result<(), FsError> {
        // A directory entry has a plain name, so the slash that marks a folder is dropped.
        let without_slash = if path.is_root() { path.clone() } else { RelPath::from_bytes(path.as_bytes())? };
        let entry = self.dir_entry(&without_slash)?;
        rustix::fs::unlinkat(&entry.folder, &*entry.name, AtFlags::REMOVEDIR)
            .map_err(|errno| FsError::from_errno(errno, &entry.path))
    }
}

/// Renames the file to a temporary name, checks its content and only then removes it, so that a version that
/// another program has just saved is not removed unchecked.
fn remove_expected(entry: &DirEntry, expected: &ContentHash) -> Result<OpenFile, FsError> {
    // Renamed first and checked then: after the rename no other program saves to the file by its name.
    let temp_name = new_temp_name();
    let folder = &entry.folder;
    rename_new((folder, &entry.name), (folder, &temp_name)).map_err(|errno| match errno {
        Errno::NOENT => FsError::NotFound { path: entry.path.clone() },
        other => entry.error(other),
    })?;
    let verdict = match entry.open_if_content(&temp_name, expected) {
        Ok(Some(file)) => match entry.remove_temporary(&temp_name) {
            Ok(()) => return Ok(file),
            // The removal failed, so the file is renamed back below.
            Err(errno) => entry.error(errno),
        },
        Ok(None) => FsError::Changed { path: entry.path.clone() },
        Err(error) => error,
    };
    match rename_new((folder, &temp_name), (folder, &entry.name)) {
        Ok(()) => Err(verdict),
        // The name is taken again: another program has saved a newer version than the one under the temporary name.
        Err(Errno::EXIST) => {
            let _ = entry.unlink_name(&temp_name);
            Err(FsError::Changed { path: entry.path.clone() })
        }
        Err(_) => Err(entry.keep_under_new_name(&temp_name)),
    }
}
