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
    /// [`FsError::NotAFile`] for a folder; [`FsError::Changed`] if the content differs, and the file stays;
    /// [`FsError::LeftBehind`] if another program created the name again before that file could be renamed back.
    pub fn remove_file(&self, path: &RelPath, expected: Option<&ContentHash>) -> Result<Removed, FsError> {
        let (entry, metadata) = self.removable(path)?;
        self.check_folder(&entry)?;
        let content = match expected {
            Some(hash) => Some(remove_checked(&entry, |temp_name| entry.open_if_content(temp_name, hash))?),
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

/// Renames the entry to a temporary name, checks it there and only then removes it, so that a version that another
/// program has just saved is not removed unchecked.
///
/// `check` gets the temporary name and returns `None` if the entry is not the expected one.
fn remove_checked<T>(
    entry: &DirEntry,
    check: impl FnOnce(&[u8]) -> Result<Option<T>, FsError>,
) -> Result<T, FsError> {
    // Renamed first and checked then: after the rename no other program saves to the file by its name.
    let temp_name = new_temp_name();
    let folder = &entry.folder;
    rename_new((folder, &entry.name), (folder, &temp_name)).map_err(|errno| match errno {
        Errno::NOENT => FsError::NotFound { path: entry.path.clone() },
        other => entry.error(other),
    })?;
    let verdict = match check(&temp_name) {
        Ok(Some(removed)) => match entry.remove_temporary(&temp_name) {
            Ok(()) => return Ok(removed),
            // The removal failed, so the file is renamed back below.
            Err(errno) => entry.error(errno),
        },
        Ok(None) => FsError::Changed { path: entry.path.clone() },
        Err(error) => error,
    };
    match rename_new((folder, &temp_name), (folder, &entry.name)) {
        Ok(()) => Err(verdict),
        // Another program has the name again. Its newer version does not make the one under the temporary name
        // worthless: that one was not recorded, and may never have been read.
        Err(_) => Err(entry.keep_under_new_name(&temp_name)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs;

    use content_hash::ContentHash;
    use rel_path::RelPath;
    use rustix::io::Errno;
    use tempfile::TempDir;

    use super::remove_checked;
    use crate::{FileRoot, FsError, FsPolicy, RootRules};

    /// Removes `log`, which holds `theirs`, while another program creates it again; `open` stands for the check.
    fn kept_version(open: impl FnOnce() -> Result<Option<()>, FsError>) -> (TempDir, FsError) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        fs::write(&log, "theirs").unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::default(), FsPolicy::default()).unwrap();
        let (entry, _) = root.removable(&RelPath::parse("log").unwrap()).unwrap();
        let error = remove_checked(&entry, |temp_name| {
            fs::write(&log, "newer").unwrap();
            let expected = ContentHash::of(b"expected");
            assert!(entry.open_if_content(temp_name, &expected)?.is_none());
            open()
        })
        .unwrap_err();
        (folder, error)
    }

    #[test]
    fn an_unexpected_version_is_kept_if_its_name_is_taken_again() {
        let failed = || Err(FsError::from_errno(Errno::IO, &RelPath::parse("log").unwrap()));
        for (folder, error) in [kept_version(|| Ok(None)), kept_version(failed)] {
            let FsError::LeftBehind { path, kept_as } = error else { panic!("{error:?}") };
            assert_eq!(path.to_string(), "log");
            assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "newer");
            let kept = kept_as.to_string();
            assert!(kept.starts_with(".agentd-kept-"), "{kept}");
            assert_eq!(fs::read_to_string(folder.path().join(kept)).unwrap(), "theirs");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        }
    }
}
