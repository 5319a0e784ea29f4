//! The size of a tree, measured with bounded work.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use crate::launcher::home::removal;

/// The size of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeSize {
    /// Bytes on the disk.
    pub(super) bytes: u64,
    /// Files and folders.
    pub(super) entries: u64,
    /// True if something in it is too deep for any path, which no program causes by accident.
    pub(super) is_unmeasurable: bool,
}

/// The folders without permissions for their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClosedFolders {
    /// They count as empty.
    Skip,
    /// They are opened up for good. No command may be running, which could put links on the way to them.
    Open,
}

/// Measures a tree of at most `entry_limit` entries; `None` if it has more. Links are not followed.
pub(super) fn measure(tree: &Path, entry_limit: u64, closed: ClosedFolders) -> Option<TreeSize> {
    let mut size = TreeSize::default();
    let mut folders: Vec<PathBuf> = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        if closed == ClosedFolders::Open {
            let _ = removal::open_up(CWD, &folder.as_os_str().to_owned());
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                size.is_unmeasurable |=
                    !matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound);
                continue;
            }
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
