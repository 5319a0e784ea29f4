//! The sessions of a state folder for whose replies a process waits.
//!
//! Each such process holds a lock on a file of its session. So others can detect it, whichever process owns the state
//! folder, and a killed process holds nothing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use tagproto::SessionId;

/// The folder of the files within the state folder.
const FOLDER: &str = "following";

/// The number of attempts at a lock: a process that checks whether it is held holds it for a moment.
const ATTEMPTS: u32 = 50;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// A session for whose replies this process waits, until this is dropped.
#[derive(Debug)]
pub struct FollowedSession {
    id: SessionId,
    folder: PathBuf,
    _locked: File,
}

impl FollowedSession {
    /// Begins to follow a session; `None` if another process does.
    ///
    /// # Errors
    ///
    /// If the files cannot be made.
    pub fn begin(base: &Path, id: SessionId) -> io::Result<Option<FollowedSession>> {
        let folder = base.join(FOLDER);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let path = folder.join(id.to_string());
        for _ in 0..ATTEMPTS {
            let file = open(&path, true)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Another process may have removed the name between opening and locking: such a lock excludes no process.
                Ok(()) if is_named(&file, &path) => {
                    return Ok(Some(FollowedSession { id, folder, _locked: file }));
                }
                Ok(()) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => thread::sleep(PAUSE),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(None)
    }

    /// Checks whether another process waits for replies to a session.
    pub fn is_followed(&self, id: SessionId) -> bool {
        id != self.id && is_locked(&self.folder.join(id.to_string()))
    }

    /// Returns the other sessions for whose replies processes wait.
    pub fn others(&self) -> Vec<SessionId> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let ids = names.filter_map(|name| name.to_str()?.parse::<SessionId>().ok());
        ids.filter(|id| self.is_followed(*id)).collect()
    }
}

impl Drop for FollowedSession {
    fn drop(&mut self) {
        // While it is locked: afterwards the name may belong to another process.
        let _ = fs::remove_file(self.folder.join(self.id.to_string()));
    }
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    // The name may be that of a symlink or a pipe, which must be neither followed nor waited for.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).write(true).create(create).mode(0o600).custom_flags(flags).open(path)
}

fn is_named(file: &File, path: &Path) -> bool {
    let same =
        |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    matches!((file.metadata(), fs::symlink_metadata(path)), (Ok(one), Ok(other)) if same(&one, &other))
}

fn is_locked(path: &Path) -> bool {
    let Ok(file) = open(path, false) else { return false };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => {
            // A killed process has left it behind. While this process holds the lock, no other can begin to rely on it.
            if is_named(&file, path) {
                let _ = fs::remove_file(path);
            }
            false
        }
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_followed_by_one_at_a_time_and_the_others_are_known() {
        let base = tempfile::tempdir().unwrap();
        let [one, other] = [[1, 2, 3, 4], [5, 6, 7, 8]].map(SessionId::from_random);
        let first = FollowedSession::begin(base.path(), one).unwrap().unwrap();
        assert!(FollowedSession::begin(base.path(), one).unwrap().is_none());
        assert_eq!(first.others(), []);
        let second = FollowedSession::begin(base.path(), other).unwrap().unwrap();
        assert_eq!((first.others(), second.others()), (vec![other], vec![one]));
        assert!(first.is_followed(other) && !first.is_followed(one));
        drop(second);
        assert_eq!(first.others(), []);
        // A killed process leaves a file without a lock.
        fs::write(base.path().join(FOLDER).join(other.to_string()), "").unwrap();
        assert_eq!(first.others(), []);
        assert!(FollowedSession::begin(base.path(), other).unwrap().is_some());
    }
}
