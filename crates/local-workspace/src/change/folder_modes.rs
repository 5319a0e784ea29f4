//! Permission bits of folders that keep their owner from changing what is in them.
//!
//! A program may leave a folder without write bits, with changes in it. So such folders are opened first, and get their
//! bits when everything in them is in its place.

use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

/// The bits with which its owner can change what is in a folder.
pub(crate) const OWNER_BITS: u32 = 0o700;

/// The folders of a batch of changes.
#[derive(Debug, Default)]
pub(crate) struct FolderModes {
    /// Those that are there and keep their owner out.
    closed: Vec<RelPath>,
    /// The permission bits that each folder has in the end.
    wanted: BTreeMap<RelPath, u32>,
}

impl FolderModes {
    /// Takes a folder: the bits that it has, if it is there, and those that it is to have, if they are decided.
    pub(crate) fn add(&mut self, path: &RelPath, has: Option<u32>, wanted: Option<u32>) {
        if has.is_some_and(|has| has & OWNER_BITS != OWNER_BITS) {
            self.closed.push(path.clone());
        }
        if let Some(mode) = wanted {
            self.wanted.insert(path.clone(), mode);
        }
    }

    /// Lets the owner into the folders that are there.
    pub(crate) fn open(&self, root: &FileRoot) {
        for path in &self.closed {
            // Where it cannot be done, the change in the folder says why.
            let _ = root
                .metadata(path)
                .and_then(|metadata| root.set_folder_mode(path, metadata.mode | OWNER_BITS));
        }
    }

    /// Gives every folder its bits, the innermost first. Answers with those that could not be given theirs.
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
        // A folder that another program has removed meanwhile needs nothing.
        self.wanted.iter().rev().filter_map(give).filter(|(_, error)| !gone(error)).collect()
    }
}
