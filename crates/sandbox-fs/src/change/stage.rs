//! A new version of a file, written to a temporary file next to it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::SystemTime;

use rel_path::RelPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::metadata::attributes::{AttributeHandle, FileAttributes, narrowed};

use crate::change::dir_entry::DirEntry;
use crate::change::temp_name::new_temp_name;
use crate::error::FsError;
use crate::handle::{self, ALWAYS};
use crate::metadata::Metadata;
use crate::metadata::access_list::{ACCESS_LIST, Lost, narrow_mode};
use crate::open_file::OpenFile;
use crate::root::FileRoot;

/// The permission bits of a new version.
///
/// The other attributes of a replaced file stay in any case: owner, group, access control list and the rest of
/// [`FileAttributes`]. If the system does not let this process keep the owner or group, the permissions are
/// narrowed so that no user gains access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// The bits of the replaced file, without set-user, set-group and sticky bit; for a new file `0o666` less the
    /// process's umask, or as the folder's default access list has it.
    Keep,
    /// These bits, cut to `0o777`.
    Exact(u32),
}

/// A new version of a file, in a temporary file in the same folder that is removed on drop.
///
/// Nothing is synced before [`Staged::publish_synced`] or [`FileRoot::sync_file`].
#[derive(Debug)]
pub struct Staged<'root> {
    pub(crate) root: &'root FileRoot,
    pub(crate) entry: DirEntry,
    pub(crate) file: File,
    pub(crate) temp_name: Vec<u8>,
    /// The metadata of the file to replace, at the time of staging.
    pub(crate) existing: Option<Metadata>,
    /// The attributes of that file, at the time of staging.
    pub(crate) existing_attributes: FileAttributes,
    /// The metadata of this version when it was complete.
    pub(crate) staged: Metadata,
    /// True while the temporary name holds our own version only, so that removing it loses nothing.
    pub(crate) remove_on_drop: bool,
}

impl FileRoot {
    /// Writes `content` next to the file at `path`, whose folder must exist.
    ///
    /// # Errors
    ///
    /// Each reason for which the file cannot be written: protection, permissions, links, kinds, names, space. No
    /// temporary file stays after an error.
    pub fn stage(&self, path: &RelPath, content: &[u8], mode: FileMode) -> Result<Staged<'_>, FsError> {
        self.stage_with(path, mode, None, |file| file.write_all(content))
    }

    /// Writes `content` next to the file at `path` as a version with exactly these attributes, to restore a
    /// recorded one. It does not inherit the folder's default access list.
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

    /// Writes the rest of `reader` next to the file at `path`.
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
        let entry = self.dir_entry(path)?;
        let existing = self.check_replaceable(&entry)?;
        let existing_attributes = match &existing {
            Some(metadata) => entry.attributes(metadata.kind)?,
            None => FileAttributes::default(),
        };
        let wanted_mode = match mode {
            FileMode::Exact(bits) => Some(bits & 0o777),
            FileMode::Keep => existing.map(|metadata| metadata.mode & 0o777),
        };
        // The temporary file is never more readable than the published file: only its owner can open it until
        // owner, attributes and mode are set. A new file without a given mode inherits from its folder.
        let decided = wanted_mode.is_some() || attributes.is_some();
        let (temp_name, file) = create_temp(&entry, if decided { 0o600 } else { 0o666 })?;
        let begun = handle::stat(&file).map_err(|errno| {
            let _ = entry.remove_temporary(&temp_name);
            entry.error(errno)
        })?;
        let mut staged = Staged {
            root: self,
            entry,
            file,
            temp_name,
            existing,
            existing_attributes,
            staged: begun,
            remove_on_drop: true,
        };
        write(&mut staged.file).map_err(|error| FsError::from_io(&error, &staged.entry.path))?;
        staged.finish_attributes(wanted_mode, attributes)?;
        staged.staged = staged.metadata()?;
        Ok(staged)
    }
}

fn create_temp(entry: &DirEntry, mode: u32) -> Result<(Vec<u8>, File), FsError> {
    // `O_EXCL` never opens an existing file, and follows no link at the name.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | ALWAYS;
    let name = new_temp_name();
    let create = || rustix::fs::openat(&entry.folder, &*name, flags, Mode::from_raw_mode(mode));
    let handle = retry_on_intr(create).map_err(|errno| match errno {
        Errno::ACCESS | Errno::PERM => FsError::OsPermission { path: entry.path.clone() },
        other => entry.error(other),
    })?;
    Ok((name, File::from(handle)))
}

impl Staged<'_> {
    /// Returns the canonical path of the file to replace or create.
    pub fn path(&self) -> &RelPath {
        &self.entry.path
    }

    /// Returns the metadata of the file to replace, at the time of staging.
    pub fn existing(&self) -> Option<&Metadata> {
        self.existing.as_ref()
    }

    /// Gives the staged file a time of last modification. Where it is not called, that is the time of staging.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn set_modified(&mut self, time: SystemTime) -> Result<(), FsError> {
        self.file.set_modified(time).map_err(|error| FsError::from_io(&error, &self.entry.path))?;
        self.staged = self.metadata()?;
        Ok(())
    }

    /// Sets the owner, then the attributes and last the permission bits, since each of these can change those
    /// after it.
    fn finish_attributes(
        &self,
        wanted_mode: Option<u32>,
        recorded: Option<&FileAttributes>,
    ) -> Result<(), FsError> {
        let error = |errno| FsError::from_errno(errno, &self.entry.path);
        let mut lost = Lost::default();
        // The owner comes first: if it cannot be kept, the rights below are narrowed.
        if let Some(existing) = &self.existing {
            let own = self.metadata()?;
            if (own.user, own.group) != (existing.user, existing.group) {
                lost = self.give_to(existing)?;
            }
        }
        let kept = self.existing.as_ref().map(|_| &self.existing_attributes);
        let file = self.file.as_fd();
        if let Some(wanted) = recorded.or(kept) {
            AttributeHandle::open(file, &self.entry.path).give(&narrowed(wanted, lost))?;
        }
        let Some(mode) = wanted_mode else { return Ok(()) };
        let has_list = recorded.or(kept).is_some_and(|wanted| wanted.value(ACCESS_LIST).is_some());
        let bits = match (has_list, lost == Lost::default()) {
            (_, true) => mode,
            (false, _) => narrow_mode(mode, lost),
            // With an access list the group bits are its mask. The bits of others were narrowed with the list.
            (true, _) => mode & 0o770 | mode & self.metadata()?.mode & 0o007,
        };
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(bits)).map_err(error)
    }

    /// Sets owner and group to those of `existing`, as far as permitted, and returns the difference. An ordinary
    /// user cannot change the owner, but can set a group that it is a member of.
    fn give_to(&self, existing: &Metadata) -> Result<Lost, FsError> {
        let user = rustix::fs::Uid::from_raw(existing.user);
        let group = rustix::fs::Gid::from_raw(existing.group);
        // Only root may give a file away, but an owner may choose among its own groups.
        let given = rustix::fs::fchown(&self.file, Some(user), Some(group))
            .or_else(|_| rustix::fs::fchown(&self.file, None, Some(group)));
        match given {
            Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
            Err(other) => return Err(FsError::from_errno(other, &self.entry.path)),
        }
        let own = self.metadata()?;
        Ok(Lost { owner: own.user != existing.user, group: own.group != existing.group })
    }

    /// Returns true if owner, mode and attributes of the replaced file are those at the time of staging.
    pub(crate) fn has_rights_of(&self, replaced: &OpenFile) -> Result<bool, FsError> {
        let Some(existing) = &self.existing else { return Ok(true) };
        let now = replaced.metadata();
        let rights = |metadata: &Metadata| (metadata.user, metadata.group, metadata.mode);
        Ok(rights(now) == rights(existing) && replaced.attributes()? == self.existing_attributes)
    }

    pub(crate) fn metadata(&self) -> Result<Metadata, FsError> {
        handle::stat(&self.file).map_err(|errno| FsError::from_errno(errno, &self.entry.path))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.remove_on_drop {
            // If this fails, walks leave the name out and a later sweep removes it.
            let _ = self.entry.remove_temporary(&self.temp_name);
        }
    }
}
