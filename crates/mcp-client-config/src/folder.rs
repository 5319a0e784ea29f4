//! A folder by its handle, for reading, creating or replacing a file in it.
//!
//! Every step works on the handle, and none follows a link: replacing the folder in the meantime leads nowhere else.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::access;
use crate::error::ConfigError;

/// The largest configuration file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) handle: OwnedFd,
}

/// A file and its state when it was read.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) text: String,
    pub(crate) file: File,
    pub(crate) stat: Stat,
}

impl Folder {
    /// Opens a folder by its path.
    pub(crate) fn open(path: &Path) -> Result<Folder, ConfigError> {
        Ok(Folder { handle: openat(CWD, path, flags(), Mode::empty()).map_err(io::Error::from)? })
    }

    /// Opens a folder in this one that existed a moment ago.
    pub(crate) fn enter(&self, name: &OsStr) -> Result<Folder, ConfigError> {
        Ok(Folder { handle: openat(&self.handle, name, flags(), Mode::empty()).map_err(replaced)? })
    }

    /// Creates a folder in this one, or opens one that was created in the meantime.
    pub(crate) fn make(&self, name: &OsStr) -> Result<Folder, ConfigError> {
        match mkdirat(&self.handle, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => {
                let folder = self.enter(name)?;
                access::inherit_owner(&folder.handle, self).inspect_err(|_| {
                    // Only an empty one is removed.
                    let _ = unlinkat(&self.handle, name, AtFlags::REMOVEDIR);
                })?;
                Ok(folder)
            }
            Err(Errno::EXIST) => self.enter(name),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Reads a regular file, and does not block on others.
    pub(crate) fn read(&self, name: &OsStr) -> Result<Current, ConfigError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.handle, name, flags, Mode::empty()).map_err(replaced)?);
        // Stat the file before reading the content, so that a change during the read is detected.
        let stat = fstat(&file).map_err(io::Error::from)?;
        if !file.metadata()?.is_file() {
            return Err(ConfigError::not_a_file());
        }
        let mut bytes = Vec::new();
        (&file).take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(ConfigError::unreadable(format!("it is longer than {} MiB", MOST_BYTES >> 20)));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let position = error.utf8_error().valid_up_to();
            ConfigError::unreadable(format!("it is not UTF-8 text, from byte {position} on"))
        })?;
        Ok(Current { text, file, stat })
    }

    /// Checks whether a name still refers to the file that was read, and no program has written to it.
    pub(crate) fn is_current(&self, name: &OsStr, current: &Current) -> bool {
        // The change time also reveals new permissions, and a modification time that was set back.
        let state = |stat: &Stat| {
            let times = (stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec);
            (stat.st_dev, stat.st_ino, stat.st_size, times)
        };
        let now = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        now.is_ok_and(|now| state(&now) == state(&current.stat))
    }
}

fn flags() -> OFlags {
    OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Maps the error of opening an entry that existed a moment ago and was not a link.
fn replaced(error: Errno) -> ConfigError {
    match error {
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR => ConfigError::ChangedMeanwhile,
        error => ConfigError::Io(error.into()),
    }
}
