//! A temporary file that does not have its final name yet.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, linkat, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use crate::access;
use crate::error::ConfigError;
use crate::folder::{Current, Folder};

/// A temporary file in the folder of its final name, because a rename cannot cross file systems. It is removed on drop.
pub(crate) struct Unfinished<'a> {
    folder: &'a Folder,
    name: OsString,
    file: File,
}

impl<'a> Unfinished<'a> {
    /// Writes the replacement of `before`, which no other user can read until it has the permissions of that file.
    pub(crate) fn replacing(
        folder: &'a Folder,
        name: &OsStr,
        text: &str,
        before: &Current,
    ) -> Result<Unfinished<'a>, ConfigError> {
        let unfinished = Unfinished::create(folder, name, 0o600)?;
        (&unfinished.file).write_all(text.as_bytes())?;
        access::keep(&unfinished.file, before)?;
        unfinished.file.sync_all()?;
        Ok(unfinished)
    }

    /// Writes a new file, with the permissions that the process or the folder gives to new files.
    pub(crate) fn new(folder: &'a Folder, name: &OsStr, text: &str) -> Result<Unfinished<'a>, ConfigError> {
        let unfinished = Unfinished::create(folder, name, 0o666)?;
        (&unfinished.file).write_all(text.as_bytes())?;
        access::inherit_owner(&unfinished.file, folder)?;
        unfinished.file.sync_all()?;
        Ok(unfinished)
    }

    fn create(folder: &'a Folder, name: &OsStr, mode: u32) -> Result<Unfinished<'a>, ConfigError> {
        // The standard library's hashers serve as a source of random numbers.
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{:016x}", RandomState::new().hash_one(())));
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file =
            openat(&folder.handle, &hidden, flags, Mode::from_raw_mode(mode)).map_err(io::Error::from)?;
        Ok(Unfinished { folder, name: hidden, file: File::from(file) })
    }

    /// Renames it over the file that was read, unless a program has changed that file since.
    pub(crate) fn replace(self, name: &OsStr, before: &Current) -> Result<(), ConfigError> {
        if !self.folder.is_current(name, before) {
            return Err(ConfigError::ChangedMeanwhile);
        }
        let folder = &self.folder.handle;
        Ok(renameat(folder, &self.name, folder, name).map_err(io::Error::from)?)
    }

    /// Gives it its name, which must be unused.
    pub(crate) fn publish(self, name: &OsStr) -> Result<(), ConfigError> {
        let folder = &self.folder.handle;
        let renamed = match renameat_with(folder, &self.name, folder, name, RenameFlags::NOREPLACE) {
            // The file system does not support it. Dropping this value removes the first name.
            Err(Errno::INVAL | Errno::NOSYS) => linkat(folder, &self.name, folder, name, AtFlags::empty()),
            other => other,
        };
        renamed.map_err(|error| match error {
            Errno::EXIST => ConfigError::ChangedMeanwhile,
            error => ConfigError::Io(error.into()),
        })
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // After a rename, nothing has this name.
        let _ = unlinkat(&self.folder.handle, &self.name, AtFlags::empty());
    }
}
