//! Owns the exclusive lock on a journal's folder.
//!
//! The operating system drops the lock when its holder ends, however it ends, so there are no stale locks.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::OpenError;
use crate::store::failure::Failure;

/// The name of the lock file in the journal's folder. The file stays; only the lock on it comes and goes.
const LOCK_NAME: &str = "lock";

/// The longest wait for the lock of a process that has ended. A process killed between `fork` and `exec`
/// leaves the lock to its child until the child calls `exec` or dies.
const LAST_CHILD_LIMIT: Duration = Duration::from_secs(5);

/// The exclusive lock on a folder, held until dropped.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that another thread has just forked shares the lock until
        // it calls `exec`. If unlocking fails, closing is the fallback.
        let _ = self.file.unlock();
    }
}

impl FolderLock {
    /// Takes the lock, or fails with the holder's process id.
    pub(crate) fn take(folder: &Path) -> Result<Self, OpenError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(folder.join(LOCK_NAME))
            .map_err(Failure::from)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Failure::from(error).into()),
            }
            let holder = holder(&mut file);
            // A live holder is reported at once; only the child of a dead one is worth waiting for.
            if !holder.is_some_and(has_ended) || started.elapsed() > LAST_CHILD_LIMIT {
                return Err(OpenError::Held { process_id: holder });
            }
            thread::sleep(Duration::from_millis(2));
        }
        // The process id only serves the error message and the wait above, so it is neither synced nor
        // trusted.
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(Failure::from)?;
        Ok(Self { file })
    }
}

/// Reads the process id that the holder wrote.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Returns whether the process is gone, or is a zombie that its parent has not reaped.
fn has_ended(process_id: u32) -> bool {
    if !Path::new("/proc/self").exists() {
        return false;
    }
    // The name before the state is in parentheses and may hold any character.
    let state = |stat: String| Some(stat.rsplit_once(") ")?.1.starts_with(['Z', 'X']));
    fs::read_to_string(format!("/proc/{process_id}/stat")).map_or(true, |stat| state(stat).unwrap_or(false))
}
