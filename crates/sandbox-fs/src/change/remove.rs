//! Removing files, links and empty folders.

use rel_path::RelPath;
use rustix::fs::AtFlags;

use crate::change::dir_entry::DirEntry;
use crate::change::new_name::{rename_away, rename_new};
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
    /// Without `expected`, a regular file is removed whatever its content. A link or a special file is removed only
    /// if it is still the one that this call found; [`FileRoot::remove_link`] and [`FileRoot::remove_special`] also
    /// cover the time since the caller looked at it.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] for a folder; [`FsError::Changed`] if the content differs, and the file stays;
    /// [`FsError::LeftBehind`] if another program created the name again before that file could be renamed back.
    pub fn remove_file(&self, path: &RelPath, expected: Option<&ContentHash>) -> Result<Removed, FsError> {
        let (entry, metadata) = self.removable(path)?;
        self.check_folder(&entry)?;
        let content = match (expected, metadata.kind) {
            (Some(hash), _) => {
                Some(remove_checked(&entry, |temp_name| entry.open_if_content(temp_name, hash))?)
            }
            (None, FileKind::File) => {
                entry.unlink_name(&entry.name).map_err(|errno| entry.removal_error(errno))?;
                None
            }
            (None, FileKind::Link) => {
                let target = entry.link_target(&entry.name)?.ok_or_else(|| entry.changed())?;
                remove_checked(&entry, |temp_name| entry.is_link_to(temp_name, &target))?;
                None
            }
            (None, kind) => {
                remove_checked(&entry, |temp_name| entry.is_kind(temp_name, kind))?;
                None
            }
        };
        Ok(Removed { path: entry.path, metadata, content })
    }

    /// Removes the link at `path` if its target text is `expected_target`, unresolved, as
    /// [`FileRoot::link_target`] returns it.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`]; [`FsError::Changed`] for another target and for anything but a link, which stays;
    /// [`FsError::LeftBehind`] as with [`FileRoot::remove_file`]; and those of every change.
    pub fn remove_link(&self, path: &RelPath, expected_target: &[u8]) -> Result<Removed, FsError> {
        self.remove_other(path, FileKind::Link, |entry, name| entry.is_link_to(name, expected_target))
    }

    /// Removes the socket, FIFO or device at `path` if it is of the expected kind.
    ///
    /// # Errors
    ///
    /// As [`FileRoot::remove_link`]; [`FsError::Changed`] if `expected` is the kind of a file, folder or link.
    pub fn remove_special(&self, path: &RelPath, expected: FileKind) -> Result<Removed, FsError> {
        if matches!(expected, FileKind::File | FileKind::Folder | FileKind::Link) {
            return Err(FsError::Changed { path: path.clone() });
        }
        self.remove_other(path, expected, |entry, name| entry.is_kind(name, expected))
    }

    fn remove_other(
        &self,
        path: &RelPath,
        kind: FileKind,
        is_expected: impl Fn(&DirEntry, &[u8]) -> Result<Option<()>, FsError>,
    ) -> Result<Removed, FsError> {
        let entry = self.dir_entry(path)?;
        let metadata = entry.stat()?.ok_or_else(|| FsError::NotFound { path: entry.path.clone() })?;
        // Finds an ordinary conflict before anything moves: the entry would be without its name for a moment.
        if metadata.kind != kind || is_expected(&entry, &entry.name)?.is_none() {
            return Err(entry.changed());
        }
        self.check_folder(&entry)?;
        remove_checked(&entry, |temp_name| is_expected(&entry, temp_name))?;
        Ok(Removed { path: entry.path, metadata, content: None })
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
            .map_err(|errno| entry.removal_error(errno))
    }
}

impl DirEntry {
    fn is_link_to(&self, name: &[u8], target: &[u8]) -> Result<Option<()>, FsError> {
        Ok((self.link_target(name)?.as_deref() == Some(target)).then_some(()))
    }

    fn is_kind(&self, name: &[u8], kind: FileKind) -> Result<Option<()>, FsError> {
        Ok(self.stat_name(name)?.filter(|metadata| metadata.kind == kind).map(drop))
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
    rename_away(folder, &entry.name, &temp_name).map_err(|errno| entry.removal_error(errno))?;
    let verdict = match check(&temp_name) {
        Ok(Some(removed)) => match entry.remove_temporary(&temp_name) {
            Ok(()) => return Ok(removed),
            // The removal failed, so the file is renamed back below.
            Err(errno) => entry.error(errno),
        },
        Ok(None) => entry.changed(),
        Err(error) => error,
    };
    match rename_new((folder, &temp_name), (folder, &entry.name)) {
        Ok(_) => Err(verdict),
        // Another program has the name again. Its newer version does not make the one under the temporary name
        // worthless: that one was not recorded, and may never have been read.
        Err(_) => Err(entry.keep_under_new_name(&temp_name)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use content_hash::ContentHash;
    use rel_path::RelPath;
    use rustix::io::Errno;
    use tempfile::TempDir;

    use super::remove_checked;
    use crate::{FileKind, FileRoot, FsError, FsPolicy, RootRules};

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
    fn a_file_that_took_the_name_of_a_link_or_a_special_file_gets_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let root = FileRoot::open(folder.path(), &RootRules::default(), FsPolicy::default()).unwrap();
        std::os::unix::fs::symlink("target", &log).unwrap();
        let (entry, _) = root.removable(&RelPath::parse("log").unwrap()).unwrap();
        fs::remove_file(&log).unwrap();
        fs::write(&log, "theirs").unwrap();
        for error in [
            remove_checked(&entry, |temp_name| entry.is_link_to(temp_name, b"target")).unwrap_err(),
            remove_checked(&entry, |temp_name| entry.is_kind(temp_name, FileKind::Fifo)).unwrap_err(),
        ] {
            assert_eq!(error, entry.changed());
            assert_eq!(fs::read_to_string(&log).unwrap(), "theirs");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
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
