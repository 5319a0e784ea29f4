//! The size of a tree, measured by bounded work.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeSize {
    /// Bytes on the disk.
    pub(super) bytes: u64,
    /// Files and folders.
    pub(super) entries: u64,
    /// True if something in it can be neither listed nor reached by a path: no program leaves such a thing by accident.
    pub(super) is_unmeasurable: bool,
}

/// Measures a tree of at most `entry_limit` entries; `None` if it has more. Links are not followed.
pub(super) fn measure(tree: &Path, entry_limit: u64) -> Option<TreeSize> {
    let mut size = TreeSize::default();
    let mut folders: Vec<PathBuf> = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            size.is_unmeasurable |= folder.symlink_metadata().is_ok() || folder != tree;
            continue;
        };
        for entry in entries.flatten() {
            size.entries += 1;
            if size.entries > entry_limit {
                return None;
            }
            let Ok(metadata) = entry.metadata() else { continue };
            size.bytes = size.bytes.saturating_add(metadata.blocks().saturating_mul(512));
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Some(size)
}
