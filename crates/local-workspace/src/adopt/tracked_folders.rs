//! Folders with files that git tracks, from the index of the root's repository.

use std::collections::BTreeSet;
use std::sync::Arc;

use git_index::ObjectFormat;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FileStamp, OpenFile};
use wap_core::Exclusions;

use crate::adopt::build_folder_check::Moment;
use crate::git::guard::INDEX_BYTES;
use crate::git::repository_context::format_on_disk;

/// Folders, by the bytes of their paths.
pub(crate) type FolderSet = Arc<BTreeSet<Vec<u8>>>;

/// The tracked folders among those in the default exclusions, read again only when the index has changed: reading that
/// of a large repository takes milliseconds.
#[derive(Debug, Default)]
pub(crate) struct TrackedFolders {
    last: Option<(IndexIdentity, FolderSet)>,
}

/// The identity of an index; an equal one has the same entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexIdentity {
    /// `None` if there is no index.
    stamp: Option<FileStamp>,
    /// `None` if the settings do not determine it with certainty.
    format: Option<ObjectFormat>,
}

impl TrackedFolders {
    /// Returns the excluded folders with files in the index; none if it cannot be read.
    pub(crate) fn read(&mut self, root: &FileRoot) -> FolderSet {
        let Ok(settings) = RelPath::parse(".git/config") else { return FolderSet::default() };
        let Ok(index) = RelPath::parse(".git/index") else { return FolderSet::default() };
        let now = Moment::now();
        let opened = root.open_file(&index).ok();
        let stamp = opened.as_ref().map(|file| file.metadata().stamp());
        let identity = IndexIdentity { stamp, format: format_on_disk(root, &settings) };
        if let Some((last, folders)) = &self.last
            && *last == identity
        {
            return Arc::clone(folders);
        }
        let has_local_times = opened.as_ref().is_some_and(OpenFile::has_local_times);
        let bytes = opened.and_then(|file| file.read_to_end(INDEX_BYTES).ok()).unwrap_or_default();
        let folders = Arc::new(tracked_folders(&bytes, identity.format));
        let is_settled =
            stamp.is_none_or(|stamp| has_local_times && !now.is_before(stamp.status_changed_nanoseconds));
        self.last = is_settled.then(|| (identity, Arc::clone(&folders)));
        folders
    }
}

/// Returns the stamp of a file; `None` if it is not there, or was written so recently that another write within the
/// same tick of the file system's clock would have the same stamp. With another machine's clock, that is always
/// possible.
pub(crate) fn settled_stamp(root: &FileRoot, path: &RelPath) -> Option<FileStamp> {
    let now = Moment::now();
    let stamp = root.metadata(path).ok()?.stamp();
    let is_settled = !now.is_before(stamp.status_changed_nanoseconds)
        && root.open_file(path).is_ok_and(|file| file.has_local_times());
    is_settled.then_some(stamp)
}

fn tracked_folders(index: &[u8], format: Option<ObjectFormat>) -> BTreeSet<Vec<u8>> {
    let exclusions = Exclusions::defaults();
    let mut folders = BTreeSet::new();
    let mut before = Vec::new();
    let mut visit = |entry: git_index::Entry<'_>| {
        let folder =
            entry.path.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |at| &entry.path[..at]);
        // A file that only keeps the folder in git says nothing about the rest. Entries come folder by folder.
        let name = entry.path.get(folder.len()..).unwrap_or_default();
        if folder == before || matches!(name, b"/.gitkeep" | b"/.gitignore" | b"/.keep") {
            return;
        }
        before = folder.to_vec();
        let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([folder.len()]).filter(|end| *end > 0) {
            let around = &folder[..end];
            if exclusions.excludes(&String::from_utf8_lossy(around), true) {
                folders.insert(around.to_vec());
            }
        }
    };
    // In the wrong format, few folders are found, and too many are better than too few.
    let both = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    for format in both.into_iter().filter(|one| format.is_none_or(|format| format == *one)) {
        // An index left half written by a user's program has fewer folders.
        let _ = git_index::check(index, format, &mut visit);
    }
    folders
}
