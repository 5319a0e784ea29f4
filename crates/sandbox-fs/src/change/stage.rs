//! A new version of a file, written beside it and not yet in its place.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use rel_path::RelPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::change::place::Place;
use crate::change::temp_name::new_temp_name;
use crate::error::FsError;
use crate::handle::{self, ALWAYS};
use crate::metadata::Metadata;
use crate::metadata::access_list::{ACCESS_LIST, Lost, narrow_mode};
use crate::metadata::attributes::{Bearer, FileAttributes, narrowed};
use crate::open_file::OpenFile;
use crate::root::FileRoot;

/// The permission bits of a new version.
///
/// The other attributes of a file that is replaced stay in any case: owner, group, access control list and the rest of
/// [`FileAttributes`]. Where the system lets this process keep owner or group not, the permissions are narrowed so that
/// nobody can do more with the file than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// Those of the file that is replaced, without set-user, set-group and sticky bit; for a new file what the
    /// process's umask, or the default access list of the folder, leaves of `0o666`.
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
    /// Its attributes then.
    pub(crate) existing_attributes: FileAttributes,
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
        self.stage_with(path, mode, None, |file| file.write_all(content))
    }

    /// Writes `content` beside the file at `path` as a version that is to have these attributes and no others: one that
    /// was recorded and comes back. An access list that the folder gives to new files is not among its rights.
    ///
    /// # Errors
    ///
    /// As [`FileRoot::stage`], and [`FsError::AttributeNotKept`].
    pub fn stage_recorded(
        &self,
        path: &RelPath,
        content: &[u8],
        mode: FileMode,
        attributes: &FileAttributes,
    ) -> Result<Staged<'_>, FsError> {
        self.stage_with(path, mode, Some(attributes), |file| file.write_all(content))
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
        self.stage_with(path, mode, None, |file| io::copy(reader, file).map(drop))
    }

    fn stage_with(
        &self,
        path: &RelPath,
        mode: FileMode,
        attributes: Option<&FileAttributes>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<Staged<'_>, FsError> {
        let place = self.place(path)?;
        let existing = self.check_replaceable(&place)?;
        let existing_attributes = match &existing {
            Some(found) => place.attributes(found.kind)?,
            None => FileAttributes::default(),
        };
        let wanted_mode = match mode {
            FileMode::Exact(bits) => Some(bits & 0o777),
            FileMode::Keep => existing.map(|found| found.mode & 0o777),
        };
        // The temporary file is never more readable than the file will be: nobody but its owner can open it before it has
        // everything that decides who may. A new file with no rights of its own gets what its folder gives.
        let decided = wanted_mode.is_some() || attributes.is_some();
        let (temp_name, file) = create_temp(&place, if decided { 0o600 } else { 0o666 })?;
        let begun = handle::stat(&file).map_err(|errno| {
            let _ = place.remove_temporary(&temp_name);
            place.error(errno)
        })?;
        let mut staged = Staged {
            root: self,
            place,
            file,
            temp_name,
            existing,
            existing_attributes,
            staged: begun,
            remove_on_drop: true,
        };
        write(&mut staged.file).map_err(|error| FsError::from_io(&error, &staged.place.path))?;
        staged.finish_attributes(wanted_mode, attributes)?;
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

    /// Gives the new file its owner, then its attributes and, last, its permission bits, since each of these may change
    /// those after it.
    fn finish_attributes(
        &self,
        wanted_mode: Option<u32>,
        recorded: Option<&FileAttributes>,
    ) -> Result<(), FsError> {
        let error = |errno| FsError::from_errno(errno, &self.place.path);
        let mut lost = Lost::default();
        if let Some(existing) = &self.existing {
            let own = self.metadata()?;
            if (own.user, own.group) != (existing.user, existing.group) {
                lost = self.give_to(existing)?;
            }
        }
        let kept = self.existing.as_ref().map(|_| &self.existing_attributes);
        let file = self.file.as_fd();
        if let Some(wanted) = recorded.or(kept) {
            Bearer::open(file, &self.place.path).give(&narrowed(wanted, lost))?;
        }
        let Some(mode) = wanted_mode else { return Ok(()) };
        let has_list = recorded.or(kept).is_some_and(|wanted| wanted.value(ACCESS_LIST).is_some());
        let bits = match (has_list, lost == Lost::default()) {
            (_, true) => mode,
            (false, _) => narrow_mode(mode, lost),
            // With a list the group's bits are the most that it gives to anyone in it. What it gives to others has been
            // narrowed already.
            (true, _) => mode & 0o770 | mode & self.metadata()?.mode & 0o007,
        };
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(bits)).map_err(error)
    }

    /// An ordinary user gives no file away, but may share it with a group. What stays the user's own is like any file
    /// that an editor replaces. Answers with what could not be given.
    fn give_to(&self, existing: &Metadata) -> Result<Lost, FsError> {
        let user = rustix::fs::Uid::from_raw(existing.user);
        let group = rustix::fs::Gid::from_raw(existing.group);
        let given = rustix::fs::fchown(&self.file, Some(user), Some(group))
            .or_else(|_| rustix::fs::fchown(&self.file, None, Some(group)));
        match given {
            Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
            Err(other) => return Err(FsError::from_errno(other, &self.place.path)),
        }
        let own = self.metadata()?;
        Ok(Lost { owner: own.user != existing.user, group: own.group != existing.group })
    }

    /// Whether who may do what with the replaced file is what it was when this was staged.
    pub(crate) fn has_rights_of(&self, replaced: &OpenFile) -> Result<bool, FsError> {
        let Some(existing) = &self.existing else { return Ok(true) };
        let now = replaced.metadata();
        let rights = |found: &Metadata| (found.user, found.group, found.mode);
        Ok(rights(now) == rights(existing) && replaced.attributes()? == self.existing_attributes)
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
