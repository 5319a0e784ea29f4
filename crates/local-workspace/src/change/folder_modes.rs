//! Permission bits of folders that keep their owner from changing their entries.
//!
//! A program may leave a changed folder without write bits. So such folders are opened first, and receive their final
//! bits when everything in them is in place.

use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

/// The bits that allow the owner to change the entries of a folder.
pub(crate) const OWNER_BITS: u32 = 0o700;

/// The folders of a batch of changes.
#[derive(Debug, Default)]
pub(crate) struct FolderModes {
    /// Existing folders that keep their owner out.
    closed: Vec<RelPath>,
    /// The final permission bits of each folder.
    wanted: BTreeMap<RelPath, u32>,
}

impl FolderModes {
    /// Adds a folder: its current bits, if it exists, and its final bits, if they are decided.
    pub(crate) fn add(&mut self, path: &RelPath, has: Option<u32>, wanted: Option<u32>) {
        if has.is_some_and(|has| has & OWNER_BITS != OWNER_BITS) {
            self.closed.push(path.clone());
        }
        if let Some(mode) = wanted {
            self.wanted.insert(path.clone(), mode);
        }
    }

    /// Grants the owner access to the existing folders.
    pub(crate) fn open(&self, root: &FileRoot) {
        for path in &self.closed {
            // On failure, the change in the folder reports the reason.
            let _ = root
                .metadata(path)
                .and_then(|metadata| root.set_folder_mode(path, metadata.mode | OWNER_BITS));
        }
    }

    /// Sets the final bits of every folder, the innermost first. Returns the failures.
    pub(crate) fn close(&self, root: &FileRoot) -> Vec<(RelPath, FsError)> {
        let give = |(path, mode): (&RelPath, &u32)| {
            root.set_folder_mode(path, *mode).err().map(|error| (path.clone(), error))
        };
        let gone = |error: &FsError| {
            matches!(
                error,
                FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }
            )
        };
        // A folder that another process has removed meanwhile needs nothing.
        self.wanted.iter().rev().filter_map(give).filter(|(_, error)| !gone(error)).collect()
    }
}
