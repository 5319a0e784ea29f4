//! Syncing published files and folders, and interpreting failures.

use std::collections::BTreeSet;

use rel_path::RelPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sandbox_fs::{FileRoot, FsError};

/// The reason why something is not synced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SyncError {
    /// The disk failed: the state in memory no longer proves anything.
    Disk(FsError),
    /// The sync could not be attempted, for lack of open files for instance. It says nothing about the disk.
    NotMade(FsError),
}

/// The syncs of one round.
#[derive(Debug)]
pub(crate) struct DiskSync<'a> {
    root: &'a FileRoot,
    /// The devices of file systems that were synced as a whole.
    synced: BTreeSet<u64>,
}

impl<'a> DiskSync<'a> {
    pub(crate) fn new(root: &'a FileRoot) -> DiskSync<'a> {
        DiskSync { root, synced: BTreeSet::new() }
    }

    /// Syncs a file. A missing file was deleted, by us or later; its folder's sync covers that.
    ///
    /// # Errors
    ///
    /// Both kinds of [`SyncError`].
    pub(crate) fn file(&mut self, path: &RelPath) -> Result<(), SyncError> {
        match self.root.sync_file(path) {
            Err(FsError::NotAFile { .. } | FsError::IsLink { .. }) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            // A file that this user cannot open is synced with its file system.
            Err(FsError::OsPermission { .. }) => self.file_system_of(path),
            Err(error) if is_not_supported(&error) => match self.file_system_of(path) {
                Err(SyncError::NotMade(error)) if is_not_supported(&error) => Ok(()),
                other => other,
            },
            other => other.map_err(sync_error),
        }
    }

    /// Syncs the names in a folder, if its file system supports it.
    ///
    /// # Errors
    ///
    /// Both kinds of [`SyncError`].
    pub(crate) fn folder(&mut self, path: &RelPath) -> Result<(), SyncError> {
        match self.root.sync_folder(path) {
            // A missing folder has no names.
            Err(error) if is_gone(&error) || is_not_supported(&error) => Ok(()),
            Err(FsError::OsPermission { .. }) => self.file_system_of(path),
            other => other.map_err(sync_error),
        }
    }

    /// Syncs the whole file system of an entry, once in a round.
    fn file_system_of(&mut self, path: &RelPath) -> Result<(), SyncError> {
        let metadata = match self.root.metadata(path) {
            Err(error) if is_gone(&error) => return Ok(()),
            other => other.map_err(SyncError::NotMade)?,
        };
        if self.synced.contains(&metadata.device) {
            return Ok(());
        }
        let folders = std::iter::successors(path.parent(), RelPath::parent);
        for folder in folders {
            let Ok(folder) = self.root.subfolder(&folder, self.root.policy().clone()) else { continue };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(folder) = rustix::fs::openat(&folder, ".", flags, Mode::empty()) else { continue };
            if rustix::fs::fstat(&folder).is_ok_and(|stat| stat.st_dev == metadata.device) {
                rustix::fs::syncfs(&folder).map_err(|errno| sync_error(system_error(path, errno)))?;
                self.synced.insert(metadata.device);
                return Ok(());
            }
        }
        Err(SyncError::NotMade(FsError::OsPermission { path: path.clone() }))
    }
}

/// Checks whether an error of a sync means that the disk failed.
///
/// Errors of opening have other numbers, except `EIO`, after which the file cannot be trusted either.
pub(crate) fn is_failed_sync(error: &FsError) -> bool {
    match error {
        FsError::NoSpace { .. } => true,
        FsError::Io { errno, .. } => Errno::from_raw_os_error(*errno) == Errno::IO,
        _ => false,
    }
}

fn sync_error(error: FsError) -> SyncError {
    if is_failed_sync(&error) { SyncError::Disk(error) } else { SyncError::NotMade(error) }
}

/// Checks whether an error of a sync means that the file system has no such operation. Folders have none on several.
pub(crate) fn is_not_supported(error: &FsError) -> bool {
    let FsError::Io { errno, .. } = error else { return false };
    let errno = Errno::from_raw_os_error(*errno);
    [Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::BADF].contains(&errno)
}

/// Checks whether nothing of ours is left at a path.
fn is_gone(error: &FsError) -> bool {
    matches!(
        error,
        FsError::NotFound { .. }
            | FsError::ParentMissing { .. }
            | FsError::NotAFolder { .. }
            | FsError::LinkLoop { .. }
            | FsError::Escape { .. }
            | FsError::RootGone { .. }
    )
}

fn system_error(path: &RelPath, errno: Errno) -> FsError {
    let path = path.clone();
    match errno {
        Errno::NOSPC | Errno::DQUOT => FsError::NoSpace { path },
        other => FsError::Io { path, errno: other.raw_os_error() },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sandbox_fs::{FsPolicy, RootRules};

    use super::*;

    #[test]
    fn only_errors_of_the_disk_say_that_it_took_nothing() {
        let path = RelPath::parse("file").unwrap();
        let kind = |errno: Errno| sync_error(system_error(&path, errno));
        for errno in [Errno::IO, Errno::NOSPC, Errno::DQUOT] {
            assert!(matches!(kind(errno), SyncError::Disk(_)), "{errno}");
        }
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR, Errno::INVAL, Errno::STALE] {
            assert!(matches!(kind(errno), SyncError::NotMade(_)), "{errno}");
        }
        for errno in [Errno::INVAL, Errno::OPNOTSUPP, Errno::NOSYS, Errno::BADF] {
            assert!(is_not_supported(&system_error(&path, errno)), "{errno}");
        }
    }

    #[test]
    fn file_that_cannot_be_opened_is_synced_with_its_file_system() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("d/file"), "text").unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
        let mut sync = DiskSync::new(&root);
        let path = RelPath::parse("d/file").unwrap();
        assert_eq!(sync.file_system_of(&path), Ok(()));
        assert_eq!(sync.synced.len(), 1);
        let gone = RelPath::parse("d/gone").unwrap();
        assert_eq!((sync.file_system_of(&gone), sync.file(&gone)), (Ok(()), Ok(())));
    }
}
