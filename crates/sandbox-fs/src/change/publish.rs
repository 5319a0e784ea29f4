//! Putting a staged version in its place.
//!
//! Someone else may save the file at any moment. So the new version and what has the name are exchanged in one step,
//! and what came out is looked at: if it is what the caller saw, it goes; if not, the two are exchanged back. From
//! the exchange on, the temporary name may hold the only copy of somebody's work, and is treated accordingly.

use std::time::Duration;

use rel_path::RelPath;
use rustix::fs::RenameFlags;
use rustix::io::{Errno, retry_on_intr};

use crate::change::place::{lacks_rename_flags, rename_new};
use crate::change::stage::Staged;
use crate::content_hash::ContentHash;
use crate::error::FsError;
use crate::handle;
use crate::metadata::{FileKind, Metadata};
use crate::open_file::OpenFile;

/// How often versions are exchanged back while someone keeps saving.
const EXCHANGES: usize = 16;

/// How long a version that had the name for a moment is watched before it is removed.
const GRACE: Duration = Duration::from_millis(5);

/// What must be at the place for a version to be put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// A regular file with this content.
    Content(ContentHash),
    /// A regular file with any content, or nothing. For files of the program's own.
    Anything,
}

/// How a version came into its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishMethod {
    /// By a rename that fails if the name is taken.
    New,
    /// By an exchange; what came out was what the caller expected.
    Exchanged,
    /// By a rename right after a look, because this file system cannot exchange. A version that was saved between
    /// the two is lost.
    CheckedThenRenamed,
    /// By a rename over whatever was there.
    Overwritten,
}

/// A version that is in its place.
#[derive(Debug)]
#[non_exhaustive]
pub struct Published {
    /// The canonical path.
    pub path: RelPath,
    /// What is known about the new file.
    pub metadata: Metadata,
    /// How it came there.
    pub method: PublishMethod,
    /// The file that was replaced, still open though it has no name any more, where its content was checked.
    ///
    /// A program that had it open for writing may still write to it, and nothing can see that at the moment of the
    /// exchange. Whoever wants such a late write kept asks [`OpenFile::content_hash`] again after a while.
    pub replaced: Option<OpenFile>,
}

impl Staged<'_> {
    /// Puts the version in its place, without syncing anything.
    ///
    /// # Errors
    ///
    /// [`FsError::AlreadyExists`] and [`FsError::Changed`] if something else is there than expected, or if the folder
    /// is no longer where it was; the file is then as the others left it. [`FsError::LeftBehind`] if they changed it
    /// so often that one of their versions had to be kept under another name.
    pub fn publish(mut self, expected: Expected) -> Result<Published, FsError> {
        self.put_in_place(expected)
    }

    /// Syncs the version, puts it in its place and syncs the folder.
    ///
    /// # Errors
    ///
    /// As [`Staged::publish`]. If only the folder cannot be synced, the version is in its place all the same.
    pub fn publish_synced(mut self, expected: Expected) -> Result<Published, FsError> {
        self.file.sync_all().map_err(|error| FsError::from_io(&error, &self.place.path))?;
        let published = self.put_in_place(expected)?;
        handle::reopen_folder(&self.place.folder)
            .and_then(rustix::fs::fsync)
            .map_err(|errno| FsError::from_errno(errno, &self.place.folder_path))?;
        Ok(published)
    }

    fn put_in_place(&mut self, expected: Expected) -> Result<Published, FsError> {
        self.root.check_writable(&self.place.path)?;
        self.root.check_folder(&self.place)?;
        let (method, replaced) = match expected {
            Expected::Absent => (self.take_free_name()?, None),
            Expected::Content(hash) => self.exchange(&hash)?,
            Expected::Anything => (self.overwrite()?, None),
        };
        // It is in its place: not being able to look at it once more must not make that a failure.
        let metadata = self.metadata().unwrap_or(self.staged);
        Ok(Published { path: self.place.path.clone(), metadata, method, replaced })
    }

    fn take_free_name(&mut self) -> Result<PublishMethod, FsError> {
        let folder = &self.place.folder;
        rename_new((folder, &self.temp_name), (folder, &self.place.name))
            .map_err(|errno| self.place.error(errno))?;
        self.remove_on_drop = false;
        Ok(PublishMethod::New)
    }

    fn overwrite(&mut self) -> Result<PublishMethod, FsError> {
        match self.place.stat()?.map(|found| found.kind) {
            None | Some(FileKind::File) => self.rename_over()?,
            Some(_) => return Err(self.changed()),
        }
        Ok(PublishMethod::Overwritten)
    }

    fn rename_over(&mut self) -> Result<(), FsError> {
        let folder = &self.place.folder;
        retry_on_intr(|| rustix::fs::renameat(folder, &*self.temp_name, folder, &*self.place.name))
            .map_err(|errno| self.place.error(errno))?;
        self.remove_on_drop = false;
        Ok(())
    }

    fn exchange(&mut self, expected: &ContentHash) -> Result<(PublishMethod, Option<OpenFile>), FsError> {
        // An ordinary conflict is seen here, before anything moves. What comes after is about the moment between.
        if self.place.open_if_content(&self.place.name, expected)?.is_none() {
            return Err(self.changed());
        }
        match self.exchange_names() {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(self.changed()),
            Err(errno) if lacks_rename_flags(errno) => return self.check_then_rename(expected),
            Err(errno) => return Err(self.place.error(errno)),
        }
        self.remove_on_drop = false;
        match self.place.open_if_content(&self.temp_name, expected) {
            // Who may read it may have been decided anew in the moment between, and that must not be taken back.
            Ok(Some(replaced)) if self.has_rights_of(&replaced).unwrap_or(false) => {
                self.remove_on_drop = true;
                Ok((PublishMethod::Exchanged, Some(replaced)))
            }
            Ok(Some(_)) => {
                self.put_back()?;
                Err(self.changed())
            }
            Ok(None) => {
                self.put_back()?;
                Err(self.changed())
            }
            Err(error) => {
                self.put_back()?;
                Err(error)
            }
        }
    }

    fn check_then_rename(
        &mut self,
        expected: &ContentHash,
    ) -> Result<(PublishMethod, Option<OpenFile>), FsError> {
        let seen = self.place.open_if_content(&self.place.name, expected)?;
        let replaced = seen.ok_or_else(|| self.changed())?;
        if !self.has_rights_of(&replaced)? {
            return Err(self.changed());
        }
        self.rename_over()?;
        Ok((PublishMethod::CheckedThenRenamed, Some(replaced)))
    }

    /// Exchanges back until what comes out is what was put in last.
    fn put_back(&mut self) -> Result<(), FsError> {
        let ours = self.metadata()?;
        let mut put_in = ours;
        for _ in 0..EXCHANGES {
            let Some(goes_in) = self.place.stat_name(&self.temp_name)? else { return Ok(()) };
            match self.exchange_names() {
                Ok(()) => {}
                // Someone removed what was put in. What was there before goes back all the same: losing it would be
                // worse than having it once more.
                Err(Errno::NOENT) if self.restore_to_free_name() => return Ok(()),
                Err(_) => break,
            }
            match self.place.stat_name(&self.temp_name)? {
                Some(came_out) if !came_out.is_same_object(&put_in) => put_in = goes_in,
                // A version that its own author has replaced since.
                Some(came_out) if !came_out.is_same_object(&ours) => return self.settle(),
                _ if self.is_untouched()? => return self.settle(),
                // Someone opened our version while it had the name, and wrote to it.
                _ => break,
            }
        }
        Err(self.place.keep_aside(&self.temp_name))
    }

    fn settle(&mut self) -> Result<(), FsError> {
        self.remove_on_drop = true;
        Ok(())
    }

    /// Whether nobody has written to our version, given a moment for whoever may have it open.
    fn is_untouched(&self) -> Result<bool, FsError> {
        std::thread::sleep(GRACE);
        let now = self.metadata()?;
        Ok(now.size_bytes == self.staged.size_bytes
            && now.modified_nanoseconds == self.staged.modified_nanoseconds)
    }

    fn restore_to_free_name(&self) -> bool {
        let folder = &self.place.folder;
        rename_new((folder, &self.temp_name), (folder, &self.place.name)).is_ok()
    }

    fn exchange_names(&self) -> Result<(), Errno> {
        let folder = &self.place.folder;
        let (temp_name, name) = (&*self.temp_name, &*self.place.name);
        retry_on_intr(|| rustix::fs::renameat_with(folder, temp_name, folder, name, RenameFlags::EXCHANGE))
    }

    fn changed(&self) -> FsError {
        FsError::Changed { path: self.place.path.clone() }
    }
}
