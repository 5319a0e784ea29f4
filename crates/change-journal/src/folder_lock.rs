//! Owns the exclusive hold on a journal's folder.
//!
//! The operating system drops the lock when its holder ends, however it ends, so there are no stale locks.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::OpenError;
use crate::failure::Failure;

/// The lock's file in the journal's folder. It stays there; only the lock on it comes and goes.
const LOCK_NAME: &str = "lock";

/// The hold on a folder, until it is dropped.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing would not be enough: a child that another thread has just forked shares the lock until it
        // starts its own program. If this fails, closing is what remains.
        let _ = self.file.unlock();
    }
}

impl FolderLock {
    /// Takes the lock or tells who holds it.
    pub(crate) fn take(folder: &Path) -> Result<Self, OpenError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(folder.join(LOCK_NAME))
            .map_err(Failure::from)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = file.read_to_string(&mut text);
                return Err(OpenError::Held { process_id: read.ok().and_then(|_| text.trim().parse().ok()) });
            }
            Err(TryLockError::Error(error)) => return Err(Failure::from(error).into()),
        }
        // The number only serves the message above, so it is neither synced nor trusted.
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(Failure::from)?;
        Ok(Self { file })
    }
}
