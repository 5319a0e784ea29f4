//! Giving each name of a file with several names a file of its own.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rel_path::RelPath;
use rustix::fs::{
    SeekFrom, Timestamps, UTIME_OMIT, copy_file_range, ftruncate, futimens, ioctl_ficlone, seek,
};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::adoption::same_content::open_own;
use crate::error::LayerError;
use crate::handle::{self, Entry, Kind};
use crate::layer::Layer;
use crate::rights::SET_ID_BITS;
use crate::scan::change::Stamp;
use crate::scan::changes::LayerChanges;
use crate::scan::shared::SharedFile;
use crate::xattr;

/// A copy that does not have its name yet. A leftover of a crash is replaced by the next copy.
const COPY: &[u8] = b"copy";

/// The largest part of a file that is copied by one call.
const CHUNK_BYTES: usize = 1 << 30;

impl Layer {
    /// Gives each name of a hard-linked file that would be adopted its own file, unless all of its names are in the same folder
    /// that is one change because [`ScanRules::whole_folders`](crate::ScanRules::whole_folders) says so. Returns the number of files whose names were
    /// separated. Without this call, [`Layer::adopt`] refuses their names.
    ///
    /// The copies hold at most `limit_bytes`, holes not counted. Of a file for which there is no room, the first name alone is adopted
    /// if nothing else leads to the file, and [`LayerChange::is_left_shared`](crate::LayerChange::is_left_shared) marks the changes
    /// that bring another one, which [`Layer::adopt`] still refuses. Smaller files come first, so that most names are adopted.
    ///
    /// Call it after the scan and before [`Layer::seal`]. The copies keep the content, permissions, owner, attributes and time
    /// of modification. A call that was interrupted has changed nothing but how names of the layer share their files.
    ///
    /// # Errors
    ///
    /// [`LayerError::NoSpace`] and [`LayerError::System`]. The changes are then still refused.
    pub fn separate(&self, changes: &mut LayerChanges, limit_bytes: u64) -> Result<usize, LayerError> {
        let mut files = changes.shared.clone();
        files.sort_by_key(SharedFile::copied_bytes);
        let (mut left_bytes, mut separated) = (limit_bytes, 0);
        let (mut adopted, mut left) = (Vec::new(), Vec::new());
        for mut file in files {
            let kept = usize::from(file.is_complete);
            if let Some(rest) = left_bytes.checked_sub(file.copied_bytes()) {
                left_bytes = rest;
                for path in &file.names[kept..] {
                    self.replace_by_copy(path).map_err(|errno| LayerError::at(path, errno))?;
                }
                adopted.append(&mut file.names);
                separated += 1;
            } else {
                adopted.extend(file.names.drain(..kept));
                left.push(file);
            }
        }
        for path in &adopted {
            let entry = self.separate_entry(path).map_err(|errno| LayerError::at(path, errno))?;
            if let Some(change) = changes.find_mut(path) {
                change.after_stamp = Some(Stamp::of(&entry));
            }
        }
        for change in &mut changes.list {
            change.is_shared = false;
        }
        changes.shared = left;
        changes.mark_shared();
        Ok(separated)
    }

    /// Returns the metadata of a separated file. The file that kept its inode loses the mark of its origin: with several names it
    /// meant nothing, and with one it would.
    fn separate_entry(&self, path: &RelPath) -> Result<Entry, Errno> {
        let (folder, name) = self.upper_entry(path)?;
        let entry = handle::stat_at(&folder, name)?.ok_or(Errno::NOENT)?;
        xattr::strip(&folder, name, &entry)?;
        handle::stat_at(&folder, name)?.ok_or(Errno::NOENT)
    }

    /// Replaces one name of a file by a copy of the file, in one step.
    fn replace_by_copy(&self, path: &RelPath) -> Result<(), Errno> {
        let (folder, name) = self.upper_entry(path)?;
        let entry = handle::stat_at(&folder, name)?.ok_or(Errno::NOENT)?;
        if entry.kind != Kind::File {
            return Err(Errno::INVAL);
        }
        let original = open_own(&folder, name, entry.mode)?;
        match handle::unlink_at(&self.folder, COPY) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(other) => return Err(other),
        }
        let copy = handle::create_at(&self.folder, COPY, 0o600)?;
        copy_content(&original, &copy, entry.size_bytes)?;
        handle::give_like(&copy, &entry)?;
        xattr::copy_attributes(&original, &copy)?;
        // None of these bits enter the workspace.
        handle::set_mode(&copy, entry.mode & !SET_ID_BITS)?;
        set_modified(&copy, entry.modified)?;
        let folder_modified = handle::stat(&folder)?.modified;
        handle::rename_over((&self.folder, COPY), (&folder, name))?;
        // A folder that is one change is adopted with its time.
        set_modified(&folder, folder_modified)
    }
}

/// Copies the content of a file, without its holes.
fn copy_content(from: &OwnedFd, to: &OwnedFd, size_bytes: u64) -> Result<(), Errno> {
    if ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    ftruncate(to, size_bytes)?;
    let mut end = 0;
    loop {
        let start = match seek(from, SeekFrom::Data(end)) {
            Ok(start) => start,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => return Ok(()),
            // The file system does not say where holes are.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => return copy_range(from, to, end, size_bytes),
            Err(other) => return Err(other),
        };
        end = seek(from, SeekFrom::Hole(start))?;
        copy_range(from, to, start, end)?;
    }
}

fn copy_range(from: &OwnedFd, to: &OwnedFd, start: u64, end: u64) -> Result<(), Errno> {
    let (mut read_at, mut write_at) = (start, start);
    while read_at < end {
        let length = usize::try_from(end - read_at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        match copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), length) {
            // The file is shorter than it was, as none in a layer becomes.
            Ok(0) => return Err(Errno::IO),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL | Errno::XDEV) => {
                return copy_by_reading(from, to, read_at, end);
            }
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

fn copy_by_reading(from: &OwnedFd, to: &OwnedFd, start: u64, end: u64) -> Result<(), Errno> {
    use std::io::{Read, Seek, Write};
    let copy = || -> std::io::Result<()> {
        let (mut from, mut to) = (File::from(from.try_clone()?), File::from(to.try_clone()?));
        from.seek(std::io::SeekFrom::Start(start))?;
        to.seek(std::io::SeekFrom::Start(start))?;
        let length = std::io::copy(&mut from.take(end - start), &mut to)?;
        to.flush()?;
        if length == end - start { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    };
    copy().map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))
}

/// Sets the time of modification, in nanoseconds since 1970.
fn set_modified(handle: impl AsFd, nanoseconds: i128) -> Result<(), Errno> {
    const SECOND: i128 = 1_000_000_000;
    let omitted = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
    let seconds = i64::try_from(nanoseconds.div_euclid(SECOND)).map_err(|_| Errno::OVERFLOW)?;
    let rest = i64::try_from(nanoseconds.rem_euclid(SECOND)).map_err(|_| Errno::OVERFLOW)?;
    let modified = Timespec { tv_sec: seconds, tv_nsec: rest };
    futimens(handle, &Timestamps { last_access: omitted, last_modification: modified })
}
