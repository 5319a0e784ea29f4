//! Temporary files beside those that were being changed when a crash came.

use std::collections::HashSet;

use change_journal::{ContentHash, Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

/// A write that a crash cuts short ends on the border of a page.
const PAGE_BYTES: usize = 4096;

/// Removes what a crash has left in `folder` of `changes`. Returns the names of versions that were nobody's but somebody
/// else's, and are kept.
pub(crate) fn clear(
    root: &FileRoot,
    journal: &Journal,
    folder: &RelPath,
    changes: &[RecordedChange],
) -> Vec<String> {
    let mut unfinished = None;
    let swept = root.sweep_leftovers(folder, |hash| {
        let hash = ContentHash::from_bytes(*hash.as_bytes());
        if journal.reader().holds_content(&hash).unwrap_or(false) {
            return true;
        }
        unfinished.get_or_insert_with(|| beginnings(journal, folder, changes)).contains(&hash)
    });
    // A folder that is gone or cannot be read has nothing to clear; what cannot be removed is hidden from every walk.
    swept.map_or_else(|_| Vec::new(), |swept| swept.kept.iter().map(RelPath::to_string).collect())
}

/// The hashes of everything that a write of one of these changes may have come to before it was cut short.
fn beginnings(journal: &Journal, folder: &RelPath, changes: &[RecordedChange]) -> HashSet<ContentHash> {
    let mut beginnings = HashSet::from([ContentHash::of(b"")]);
    for change in changes {
        let is_here =
            RelPath::from_bytes(&change.path).is_ok_and(|path| path.parent().as_ref() == Some(folder));
        let Some(hash) = change.after.and_then(|after| after.content).filter(|_| is_here) else { continue };
        let Ok(Some(bytes)) = journal.reader().content(&hash) else { continue };
        let mut hasher = blake3::Hasher::new();
        for page in bytes.chunks(PAGE_BYTES) {
            hasher.update(page);
            beginnings.insert(ContentHash::from_bytes(*hasher.finalize().as_bytes()));
        }
    }
    beginnings
}
