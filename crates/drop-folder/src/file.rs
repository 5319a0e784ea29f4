//! A file of the folder, and its bytes.

use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError, WalkEntry};

/// A listed entry of the folder, before its bytes are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedFile {
    /// Its name within the folder.
    pub name: RelPath,
    /// A file, a symlink, or another kind of entry.
    pub kind: FileKind,
    /// The state of the file: two listings with equal stamps show the same content.
    pub stamp: FileStamp,
    /// Its mode bits.
    pub mode: u32,
}

impl DroppedFile {
    fn of(entry: WalkEntry) -> Option<DroppedFile> {
        let metadata = entry.metadata?;
        let (stamp, mode) = (metadata.stamp(), metadata.mode);
        Some(DroppedFile { name: entry.path, kind: entry.kind, stamp, mode })
    }
}

/// Lists the entries of a folder by modification time, oldest first, then by name. Entries that are removed during the listing
/// are left out.
///
/// # Errors
///
/// Those of [`FileRoot::list`].
pub fn list(folder: &FileRoot) -> Result<Vec<DroppedFile>, FsError> {
    let entries = folder.list(&RelPath::root())?;
    let mut files: Vec<_> = entries.into_iter().filter_map(DroppedFile::of).collect();
    files.sort_by(|left, right| {
        let order = left.stamp.modified_nanoseconds.cmp(&right.stamp.modified_nanoseconds);
        order.then_with(|| left.name.as_bytes().cmp(right.name.as_bytes()))
    });
    Ok(files)
}

/// Returns the bytes of a file, at most `limit_bytes`; `None` if it has changed since it was listed.
///
/// # Errors
///
/// Those of opening and reading: [`FsError::NotFound`] if it is gone, [`FsError::TooLarge`] beyond the limit, [`FsError::IsLink`]
/// or [`FsError::NotAFile`] if it is not a regular file.
pub fn read(folder: &FileRoot, file: &DroppedFile, limit_bytes: u64) -> Result<Option<Vec<u8>>, FsError> {
    let open = folder.open_file(&file.name)?;
    let bytes = open.read_to_end(limit_bytes)?;
    // Taken from the open file after the read: a write during the read, or another file of this name, changes the stamp.
    let is_unchanged = open.metadata_now()?.stamp() == file.stamp;
    Ok(is_unchanged.then_some(bytes))
}
