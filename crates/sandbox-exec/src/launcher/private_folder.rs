//! A home and a folder for temporary files, for commands that have no root of their own to hold them.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use crate::launcher::home::removal::remove_tree;
use crate::launcher::tool_settings::{self, MaskedFile};

/// Files that shells read when they start.
pub(crate) const START_UP_FILES: [&str; 5] = [".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile"];

/// The prefix of every folder's name.
const PREFIX: &str = "sandbox-exec-";

/// The number of names to try.
const NAMES_TRIED: u32 = 10_000;

/// A folder that only the user can enter; removed with everything in it when dropped.
///
/// It is locked while in use. A killed process leaves the folder, but not the lock.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    _lock: FolderLock,
}

/// A lock on a folder, until it is dropped.
#[derive(Debug)]
pub(crate) struct FolderLock(File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that another thread is just starting may hold a copy.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl PrivateFolder {
    /// Makes a folder in `parent` with `name` in its name.
    pub(crate) fn create(parent: &Path, name: &str) -> io::Result<PrivateFolder> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let parent = fs::canonicalize(parent)?;
        for _ in 0..NAMES_TRIED {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{name}-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                // Process numbers are reused, and a killed process has left its folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // A concurrent sweep may take it for a leftover; then try the next name.
            if let Some(lock) = lock(&path)?
                && fs::symlink_metadata(&path).is_ok_and(|metadata| is_same(&metadata, &lock))
            {
                return Ok(PrivateFolder { path, _lock: lock });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Removes the folders in `parent` that killed processes of this user have left.
    pub(crate) fn sweep(parent: &Path) {
        let Ok(entries) = fs::read_dir(parent) else { return };
        let own = rustix::process::geteuid().as_raw();
        for entry in entries.flatten() {
            let is_ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
                && entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own);
            if is_ours && let Ok(Some(_lock)) = lock(&entry.path()) {
                // A failed removal is retried the next time.
                let _ = remove_tree(&entry.path());
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Makes the home, with git's settings, links to the real home's toolchains and copies of their settings, and the
    /// temporary folder.
    pub(crate) fn furnish(
        &self,
        git_settings: &str,
        real_home: &Path,
        toolchains: &[PathBuf],
        masked: &[MaskedFile],
    ) -> io::Result<()> {
        fs::create_dir(self.temporary())?;
        fs::create_dir(self.home())?;
        fs::write(self.home().join(".gitconfig"), git_settings)?;
        // As in a command's own root: no shell of the user may read what a command wrote there.
        for name in START_UP_FILES {
            let path = self.home().join(name);
            fs::write(&path, "")?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o444))?;
        }
        for toolchain in toolchains {
            let Ok(name) = toolchain.strip_prefix(real_home) else { continue };
            let link = self.home().join(name);
            if let Some(parent) = link.parent() {
                fs::create_dir_all(parent)?;
            }
            symlink(toolchain, link)?;
        }
        for file in masked.iter().filter(|file| tool_settings::is_always_shown(real_home, &file.path)) {
            let Ok(name) = file.path.strip_prefix(real_home) else { continue };
            let copy = self.home().join(name);
            if let Some(parent) = copy.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(copy, &file.contents)?;
        }
        Ok(())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A command may still make a file while this runs; the owner of the scratch folder clears what remains.
        let _ = remove_tree(&self.path);
    }
}

/// Locks a folder; `None` if another process has, or if it is gone.
pub(crate) fn lock(folder: &Path) -> io::Result<Option<FolderLock>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(FolderLock(File::from(handle)))),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn is_same(metadata: &fs::Metadata, lock: &FolderLock) -> bool {
    lock.0.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_swept_and_those_in_use_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let used = PrivateFolder::create(parent.path(), "used").unwrap();
        let left = parent.path().join(format!("{PREFIX}left-1-0"));
        fs::create_dir_all(left.join("home")).unwrap();
        fs::create_dir(parent.path().join("else")).unwrap();
        PrivateFolder::sweep(parent.path());
        assert!(used.path().exists() && !left.exists() && parent.path().join("else").exists());
    }

    #[test]
    fn folder_that_a_process_of_the_same_number_has_left_is_no_obstacle() {
        let parent = tempfile::tempdir().unwrap();
        for number in 0..50 {
            let name = format!("{PREFIX}test-{}-{number}", std::process::id());
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        PrivateFolder::create(parent.path(), "test").unwrap();
    }
}
