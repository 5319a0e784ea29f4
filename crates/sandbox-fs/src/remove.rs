//! Removing files, links and empty folders.

use rel_path::RelPath;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::content_hash::ContentHash;
use crate::error::FsError;
use crate::handle::FOLDER_LIST;
use crate::metadata::{FileKind, Metadata};
use crate::place::{Place, rename_new};
use crate::policy::LinkRule;
use crate::resolve::Last;
use crate::root::FileRoot;
use crate::temp_name::{is_temp_name, new_temp_name};
use crate::walk::read_names;

impl FileRoot {
    /// Removes a file, or a link itself, and says what it was. With `expected`, only a regular file with that content.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] for a folder; [`FsError::Changed`] if the content is another one, and the file then is
    /// where it was.
    pub fn remove_file(&self, path: &RelPath, expected: Option<&ContentHash>) -> Result<Metadata, FsError> {
        let place = self.place(path)?;
        let found = place.stat()?.ok_or_else(|| FsError::NotFound { path: place.path.clone() })?;
        match found.kind {
            FileKind::Folder => return Err(FsError::NotAFile { path: place.path, kind: found.kind }),
            FileKind::File => self.check_changeable(&place, &found)?,
            _ => {}
        }
        self.check_folder(&place)?;
        match expected {
            Some(hash) => remove_expected(&place, hash)?,
            None => {
                place.unlink_name(&place.name).map_err(|errno| FsError::from_errno(errno, &place.path))?
            }
        }
        Ok(found)
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

    /// Removes the temporary files that a crash left in one folder, and says how many they were.
    ///
    /// Only for a folder in which no one is writing through this crate: the files of a write that is under way look
    /// the same.
    ///
    /// # Errors
    ///
    /// Those of listing the folder. A file that cannot be removed is not counted.
    pub fn remove_leftovers(&self, folder: &RelPath) -> Result<u64, FsError> {
        self.check_writable(folder)?;
        let (handle, path) = self.resolver.open(folder, FOLDER_LIST, Last::Folder, LinkRule::Refuse)?;
        let mut leftovers = Vec::new();
        read_names(&handle, |name, _| {
            if is_temp_name(name) {
                leftovers.push(name.to_vec());
            }
            true
        })
        .map_err(|errno| FsError::from_errno(errno, &path))?;
        let remove = |name: &Vec<u8>| rustix::fs::unlinkat(&handle, &**name, AtFlags::empty()).is_ok();
        Ok(leftovers.iter().filter(|name| remove(name)).count() as u64)
    }
}

/// Takes the file aside, looks at it and only then removes it, so that nobody's new version is removed unseen.
fn remove_expected(place: &Place, expected: &ContentHash) -> Result<(), FsError> {
    let aside = new_temp_name();
    let folder = &place.folder;
    rename_new((folder, &place.name), (folder, &aside)).map_err(|errno| match errno {
        Errno::NOENT => FsError::NotFound { path: place.path.clone() },
        other => place.error(other),
    })?;
    let verdict = match place.has_content(&aside, expected) {
        Ok(true) => return place.unlink_name(&aside).map_err(|errno| place.error(errno)),
        Ok(false) => FsError::Changed { path: place.path.clone() },
        Err(error) => error,
    };
    match rename_new((folder, &aside), (folder, &place.name)) {
        Ok(()) => Err(verdict),
        // The name was taken again, so its author has replaced the version that was taken aside.
        Err(Errno::EXIST) => {
            let _ = place.unlink_name(&aside);
            Err(FsError::Changed { path: place.path.clone() })
        }
        Err(_) => {
            Err(FsError::LeftBehind { path: place.path.clone(), kept_as: place.folder_path.child(&aside)? })
        }
    }
}
