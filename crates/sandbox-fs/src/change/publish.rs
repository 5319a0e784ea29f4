//! Replacing a file with a staged version.
//!
//! Another program may save the file at any moment. So the new version and the current file are exchanged in one
//! step, and the displaced file is checked: if it is the version that the caller expected, it is removed; if not,
//! the two are exchanged back. From the exchange on, the temporary name may hold the only copy of another
//! program's work, so it is never removed unchecked.

use std::time::Duration;

use rel_path::RelPath;
use rustix::fs::RenameFlags;
use rustix::io::{Errno, retry_on_intr};

use crate::change::new_name::{Guard, lacks_rename_flags, rename_new};
use crate::change::stage::Staged;
use crate::error::FsError;
use crate::handle;
use crate::metadata::{FileKind, Metadata};
use crate::open_file::OpenFile;
use content_hash::ContentHash;

/// The number of exchanges back while another program keeps saving.
const EXCHANGES: usize = 16;

/// The wait for late writes before our own withdrawn version is removed.
const GRACE: Duration = Duration::from_millis(5);

/// The file that a staged version may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// A regular file with this content.
    Content(ContentHash),
    /// A regular file with any content, or nothing. For files of the program's own.
    Anything,
}

/// The way in which a version was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishMethod {
    /// By a rename that fails if the name is taken.
    New,
    /// By an exchange; the displaced file was the expected one.
    Exchanged,
    /// By a check and a rename, because this file system cannot exchange, or for a new file has neither renames that
    /// never replace nor hard links. A version saved between the two is lost.
    CheckedThenRenamed,
    /// By a rename over any existing file.
    Overwritten,
}

/// A published version.
#[derive(Debug)]
#[non_exhaustive]
pub struct Published {
    /// The canonical path.
    pub path: RelPath,
    /// The metadata of the new file.
    pub metadata: Metadata,
    /// The way in which it was published.
    pub method: PublishMethod,
    /// The replaced file, still open without a name, if its content was checked.
    ///
    /// A program that has it open for writing may still write to it, which cannot be detected during the
    /// exchange. To keep such a late write, call [`OpenFile::content_hash`] again after a while.
    pub replaced: Option<OpenFile>,
}

impl Staged<'_> {
    /// Replaces the file with this version, without syncing.
    ///
    /// # Errors
    ///
    /// [`FsError::AlreadyExists`] and [`FsError::Changed`] if the file is not the expected one, or if the folder
    /// was moved; the other program's version then stays in place. [`FsError::LeftBehind`] if the file changed so
    /// often that a version had to be kept under another name.
    pub fn publish(mut self, expected: Expected) -> Result<Published, FsError> {
        self.replace_target(expected)
    }

    /// Syncs this version, replaces the file with it and syncs the folder.
    ///
    /// # Errors
    ///
    /// As [`Staged::publish`]. If only syncing the folder fails, the version is published all the same.
    pub fn publish_synced(mut self, expected: Expected) -> Result<Published, FsError> {
        // Content before name: after a power failure the name must never lead to an empty file.
        self.file.sync_all().map_err(|error| FsError::from_io(&error, &self.entry.path))?;
        let published = self.replace_target(expected)?;
        handle::reopen_folder(&self.entry.folder)
            .and_then(rustix::fs::fsync)
            .map_err(|errno| FsError::from_errno(errno, &self.entry.folder_path))?;
        Ok(published)
    }

    fn replace_target(&mut self, expected: Expected) -> Result<Published, FsError> {
        // Checked again: staging may have taken long, and the folder may have been moved out of the root since.
        self.root.check_writable(&self.entry.path)?;
        self.root.check_folder(&self.entry)?;
        let (method, replaced) = match expected {
            Expected::Absent => (self.rename_to_free_name()?, None),
            Expected::Content(hash) => self.exchange(&hash)?,
            Expected::Anything => (self.overwrite()?, None),
        };
        // The version is published, so failing to read its metadata again must not turn that into an error.
        let metadata = self.metadata().unwrap_or(self.staged);
        Ok(Published { path: self.entry.path.clone(), metadata, method, replaced })
    }

    fn rename_to_free_name(&mut self) -> Result<PublishMethod, FsError> {
        let folder = &self.entry.folder;
        let guard = rename_new((folder, &self.temp_name), (folder, &self.entry.name))
            .map_err(|errno| self.entry.error(errno))?;
        self.remove_on_drop = false;
        Ok(match guard {
            Guard::System => PublishMethod::New,
            Guard::Checked => PublishMethod::CheckedThenRenamed,
        })
    }

    fn overwrite(&mut self) -> Result<PublishMethod, FsError> {
        match self.entry.stat()?.map(|metadata| metadata.kind) {
            None | Some(FileKind::File) => self.rename_over()?,
            Some(_) => return Err(self.changed()),
        }
        Ok(PublishMethod::Overwritten)
    }

    fn rename_over(&mut self) -> Result<(), FsError> {
        let folder = &self.entry.folder;
        retry_on_intr(|| rustix::fs::renameat(folder, &*self.temp_name, folder, &*self.entry.name))
            .map_err(|errno| self.entry.error(errno))?;
        self.remove_on_drop = false;
        Ok(())
    }

    fn exchange(&mut self, expected: &ContentHash) -> Result<(PublishMethod, Option<OpenFile>), FsError> {
        // Finds an ordinary conflict before anything moves. The check after the exchange covers the time in
        // between.
        if self.entry.open_if_content(&self.entry.name, expected)?.is_none() {
            return Err(self.changed());
        }
        match self.exchange_names() {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(self.changed()),
            Err(errno) if lacks_rename_flags(errno) => return self.check_then_rename(expected),
            Err(errno) => return Err(self.entry.error(errno)),
        }
        // The temporary name holds the displaced file now, which may be the only copy of it.
        self.remove_on_drop = false;
        match self.entry.open_if_content(&self.temp_name, expected) {
            // A change of owner, mode or attributes since staging must not be reverted by our version.
            Ok(Some(replaced)) if self.has_rights_of(&replaced).unwrap_or(false) => {
                self.remove_on_drop = true;
                Ok((PublishMethod::Exchanged, Some(replaced)))
            }
            Ok(Some(_)) => {
                self.exchange_back()?;
                Err(self.changed())
            }
            Ok(None) => {
                self.exchange_back()?;
                Err(self.changed())
            }
            Err(error) => {
                self.exchange_back()?;
                Err(error)
            }
        }
    }

    fn check_then_rename(
        &mut self,
        expected: &ContentHash,
    ) -> Result<(PublishMethod, Option<OpenFile>), FsError> {
        let current = self.entry.open_if_content(&self.entry.name, expected)?;
        let replaced = current.ok_or_else(|| self.changed())?;
        if !self.has_rights_of(&replaced)? {
            return Err(self.changed());
        }
        self.rename_over()?;
        Ok((PublishMethod::CheckedThenRenamed, Some(replaced)))
    }

    /// Exchanges back until the displaced file is the one that the previous exchange put there.
    fn exchange_back(&mut self) -> Result<(), FsError> {
        let ours = self.metadata()?;
        let mut put_in = ours;
        for _ in 0..EXCHANGES {
            let Some(goes_in) = self.entry.stat_name(&self.temp_name)? else { return Ok(()) };
            match self.exchange_names() {
                Ok(()) => {}
                // Another program removed the file meanwhile. Restore the earlier version all the same: losing it
                // would be worse than bringing it back.
                Err(Errno::NOENT) if self.restore_to_free_name() => return Ok(()),
                Err(_) => break,
            }
            match self.entry.stat_name(&self.temp_name)? {
                Some(came_out) if !came_out.is_same_object(&put_in) => put_in = goes_in,
                // This version was already replaced by a newer one of the other program.
                Some(came_out) if !came_out.is_same_object(&ours) => return self.settle(),
                _ if self.is_unchanged_after_grace()? => return self.settle(),
                // Another program opened our version while it had the name, and wrote to it.
                _ => break,
            }
        }
        Err(self.entry.keep_under_new_name(&self.temp_name))
    }

    fn settle(&mut self) -> Result<(), FsError> {
        self.remove_on_drop = true;
        Ok(())
    }

    /// Returns true if our version was not written to, after a short wait for programs that have it open.
    fn is_unchanged_after_grace(&self) -> Result<bool, FsError> {
        // A program that opened our version while it had the name may be about to write.
        std::thread::sleep(GRACE);
        let now = self.metadata()?;
        Ok(now.size_bytes == self.staged.size_bytes
            && now.modified_nanoseconds == self.staged.modified_nanoseconds)
    }

    fn restore_to_free_name(&self) -> bool {
        let folder = &self.entry.folder;
        rename_new((folder, &self.temp_name), (folder, &self.entry.name)).is_ok()
    }

    fn exchange_names(&self) -> Result<(), Errno> {
        let folder = &self.entry.folder;
        let (temp_name, name) = (&*self.temp_name, &*self.entry.name);
        retry_on_intr(|| rustix::fs::renameat_with(folder, temp_name, folder, name, RenameFlags::EXCHANGE))
    }

    fn changed(&self) -> FsError {
        FsError::Changed { path: self.entry.path.clone() }
    }
}
