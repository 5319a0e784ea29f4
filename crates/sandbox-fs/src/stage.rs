//! A new version of a file, written beside it and not yet in its place.

use std::fs::File;
use std::io::{self, Read, Write};

use rel_path::RelPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::error::FsError;
use crate::handle::{self, ALWAYS};
use crate::metadata::Metadata;
use crate::place::Place;
use crate::root::FileRoot;
use crate::temp_name::new_temp_name;

/// The permission bits of a new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// Those of the file that is replaced, without set-user, set-group and sticky bit; for a new file what the
    /// process's umask leaves of `0o666`.
    Keep,
    /// These, cut to `0o777`.
    Exact(u32),
}

/// A new version of a file, written to a temporary file in the same folder. Dropping it removes that file.
///
/// Nothing is synced before [`Staged::publish_synced`] or [`FileRoot::sync_file`].
#[derive(Debug)]
pub struct Staged<'root> {
    pub(crate) root: &'root FileRoot,
    pub(crate) place: Place,
    pub(crate) file: File,
    pub(crate) temp_name: Vec<u8>,
    /// What is to be replaced, as it was when this was staged.
    pub(crate) existing: Option<Metadata>,
    /// This version, as it was when it was complete.
    pub(crate) staged: Metadata,
    /// Whether the temporary name holds nothing that anybody else wrote.
    pub(crate) remove_on_drop: bool,
}

impl FileRoot {
    /// Writes `content` beside the file at `path`, whose folder must exist.
    ///
    /// # Errors
    ///
    /// Everything that would keep the file from being written: protection, permissions, links, kinds, names, space.
    /// Nothing is left behind.
    pub fn stage(&self, path: &RelPath, content: &[u8], mode: FileMode) -> Result<Staged<'_>, FsError> {
        self.stage_with(path, mode, |file| file.write_all(content))
    }

    /// Writes everything that `reader` gives beside the file at `path`.
    ///
    /// # Errors
    ///
    /// As [`FileRoot::stage`], and those of the reader.
    pub fn stage_reader(
        &self,
        path: &RelPath,
        reader: &mut dyn Read,
        mode: FileMode,
    ) -> Result<Staged<'_>, FsError> {
        self.stage_with(path, mode, |file| io::copy(reader, file).map(drop))
    }

    fn stage_with(
        &self,
        path: &RelPath,
        mode: FileMode,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Staged<'_>, FsError> {
        let place = self.place(path)?;
        let existing = self.check_replaceable(&place)?;
        let wanted_mode = match mode {
            FileMode::Exact(bits) => Some(bits & 0o777),
            FileMode::Keep => existing.map(|found| found.mode & 0o777),
        };
        // The temporary file is never more readable than the file will be.
        let (temp_name, file) = create_temp(&place, wanted_mode.unwrap_or(0o666))?;
        let begun = handle::stat(&file).map_err(|errno| {
            let _ = place.remove_temporary(&temp_name);
            place.error(errno)
        })?;
        let mut staged =
            Staged { root: self, place, file, temp_name, existing, staged: begun, remove_on_drop: true };
        write(&mut staged.file).map_err(|error| FsError::from_io(&error, &staged.place.path))?;
        staged.finish_attributes(wanted_mode)?;
        staged.staged = staged.metadata()?;
        Ok(staged)
    }
}

fn create_temp(place: &Place, mode: u32) -> Result<(Vec<u8>, File), FsError> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | ALWAYS;
    let name = new_temp_name();
    let create = || rustix::fs::openat(&place.folder, &*name, flags, Mode::from_raw_mode(mode));
    let handle = retry_on_intr(create).map_err(|errno| match errno {
        Errno::ACCESS | Errno::PERM => FsError::OsPermission { path: place.path.clone() },
        other => place.error(other),
    })?;
    Ok((name, File::from(handle)))
}

impl Staged<'_> {
    /// The canonical path of the file that this is a version of.
    pub fn path(&self) -> &RelPath {
        &self.place.path
    }

    /// The file that was there when this was staged.
    pub fn existing(&self) -> Option<&Metadata> {
        self.existing.as_ref()
    }

    /// Gives the new file its owner and, last, its permission bits, since a change of owner clears some of them.
    fn finish_attributes(&self, wanted_mode: Option<u32>) -> Result<(), FsError> {
        let error = |errno| FsError::from_errno(errno, &self.place.path);
        if let Some(existing) = &self.existing {
            let own = self.metadata()?;
            if (own.user, own.group) != (existing.user, existing.group) {
                self.give_to(existing).map_err(error)?;
            }
        }
        if let Some(mode) = wanted_mode {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode)).map_err(error)?;
        }
        Ok(())
    }

    /// An ordinary user gives no file away, but may share it with a group. What stays the user's own is like any file
    /// that an editor replaces.
    fn give_to(&self, existing: &Metadata) -> Result<(), Errno> {
        let user = rustix::fs::Uid::from_raw(existing.user);
        let group = rustix::fs::Gid::from_raw(existing.group);
        let given = rustix::fs::fchown(&self.file, Some(user), Some(group))
            .or_else(|_| rustix::fs::fchown(&self.file, None, Some(group)));
        match given {
            Ok(()) | Err(Errno::PERM | Errno::INVAL) => Ok(()),
            Err(other) => Err(other),
        }
    }

    pub(crate) fn metadata(&self) -> Result<Metadata, FsError> {
        handle::stat(&self.file).map_err(|errno| FsError::from_errno(errno, &self.place.path))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.remove_on_drop {
            // If this fails, the name is one that every walk leaves out and that a sweep recognises.
            let _ = self.place.remove_temporary(&self.temp_name);
        }
    }
}
