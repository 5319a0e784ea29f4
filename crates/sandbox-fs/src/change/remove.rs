//! Removing files, links and empty folders.

use rel_path::RelPath;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::change::place::{Place, rename_new};
use crate::change::temp_name::new_temp_name;
use crate::content_hash::ContentHash;
use crate::error::FsError;
use crate::metadata::{FileKind, Metadata};
use crate::open_file::OpenFile;
use crate::root::FileRoot;

/// Something that was removed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Removed {
    /// The canonical path that it had.
    pub path: RelPath,
    /// What it was.
    pub metadata: Metadata,
    /// The file itself, still open, where its content was checked. A late write by a program that had it open can be
    /// seen here, as in [`Published::replaced`](crate::Published::replaced).
    pub content: Option<OpenFile>,
}

impl FileRoot {
    /// Removes a file, or a link itself. With `expected`, only a regular file with that content.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] for a folder; [`FsError::Changed`] if the content is another one, and the file then is
    /// where it was.
    pub fn remove_file(&self, path: &RelPath, expected: Option<&ContentHash>) -> Result<Removed, FsError> {
        let (place, found) = self.removable(path)?;
        self.check_folder(&place)?;
        let content = match expected {
            Some(hash) => Some(remove_expected(&place, hash)?),
            None => {
                place.unlink_name(&place.name).map_err(|errno| FsError::from_errno(errno, &place.path))?;
                None
            }
        };
        Ok(Removed { path: place.path, metadata: found, content })
    }

    /// Finds what a removal of `path` is about, with all the checks that are made before anything is removed.
    pub(crate) fn removable(&self, path: &RelPath) -> Result<(Place, Metadata), FsError> {
        let place = self.place(path)?;
        let found = place.stat()?.ok_or_else(|| FsError::NotFound { path: place.path.clone() })?;
        match found.kind {
            FileKind::Folder => return Err(FsError::NotAFile { path: place.path, kind: found.kind }),
            FileKind::File => self.check_changeable(&place, &found)?,
            _ => {}
        }
        Ok((place, found))
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// [`FsError::FolderNotEmpty`], [`FsError::NotAFolder`], and those of every change.
    pub fn remove_empty_folder(&self, path: &RelPath) -> Result<(), FsError> {
        let without_slash = if path.is_root() { path.clone() } else { RelPath::from_bytes(path.as_bytes())? };
        let place = self.place(&without_slash)?;
        rustix::fs::unlinkat(&place.folder, &*place.name, AtFlags::REMOVEDIR)
            .map_err(|errno| FsError::from_errno(errno, &place.path))
    }
}

/// Takes the file aside, looks at it and only then removes it, so that nobody's new version is removed unseen.
fn remove_expected(place: &Place, expected: &ContentHash) -> Result<OpenFile, FsError> {
    let aside = new_temp_name();
    let folder = &place.folder;
    rename_new((folder, &place.name), (folder, &aside)).map_err(|errno| match errno {
        Errno::NOENT => FsError::NotFound { path: place.path.clone() },
        other => place.error(other),
    })?;
    let verdict = match place.open_if_content(&aside, expected) {
        Ok(Some(file)) => match place.remove_temporary(&aside) {
            Ok(()) => return Ok(file),
            // A removal that failed leaves the file where it was.
            Err(errno) => place.error(errno),
        },
        Ok(None) => FsError::Changed { path: place.path.clone() },
        Err(error) => error,
    };
    match rename_new((folder, &aside), (folder, &place.name)) {
        Ok(()) => Err(verdict),
        // The name was taken again, so its author has replaced the version that was taken aside.
        Err(Errno::EXIST) => {
            let _ = place.unlink_name(&aside);
            Err(FsError::Changed { path: place.path.clone() })
        }
        Err(_) => Err(place.keep_aside(&aside)),
    }
}
