//! Owns the exclusive hold on a journal's folder.
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

/// The lock's file in the journal's folder. It stays there; only the lock on it comes and goes.
const LOCK_NAME: &str = "lock";

/// How long a holder that has ended is waited for. A process that is killed while it starts another one leaves the lock
/// to that one until it starts its own program, or has died as well.
const LAST_CHILD_LIMIT: Duration = Duration::from_secs(5);

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
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Failure::from(error).into()),
            }
            let holder = holder(&mut file);
            if !holder.is_some_and(has_ended) || started.elapsed() > LAST_CHILD_LIMIT {
                return Err(OpenError::Held { process_id: holder });
            }
            thread::sleep(Duration::from_millis(2));
        }
        // The number serves the message and the patience above only, so it is neither synced nor trusted.
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(Failure::from)?;
        Ok(Self { file })
    }
}

/// The process whose number the holder has left.
fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Whether there is no such process any more, or only what is left of it until its parent looks.
fn has_ended(process_id: u32) -> bool {
    if !Path::new("/proc/self").exists() {
        return false;
    }
    // The name before the state is in parentheses and may hold any character.
    let state = |stat: String| Some(stat.rsplit_once(") ")?.1.starts_with(['Z', 'X']));
    fs::read_to_string(format!("/proc/{process_id}/stat")).map_or(true, |stat| state(stat).unwrap_or(false))
}
