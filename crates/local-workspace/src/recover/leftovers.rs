//! Temporary files beside those that were being changed when a crash came.

use change_journal::{Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, OpenFile};

use crate::change::present::CONTENT_LIMIT_BYTES;
use crate::recover::partial_write::is_partial;

/// Removes what a crash has left in `folder` of `changes`. Returns the names of versions that other programs wrote,
/// which are kept.
pub(crate) fn clear(
    root: &FileRoot,
    journal: &Journal,
    folder: &RelPath,
    changes: &[RecordedChange],
) -> Vec<String> {
    let mut contents = None;
    let swept = root.sweep_leftovers(folder, |file| {
        is_held(journal, file) || {
            let contents = contents.get_or_insert_with(|| contents_in(journal, folder, changes));
            is_unfinished(file, contents)
        }
    });
    // A folder that is gone or cannot be read has nothing to clear; what cannot be removed is hidden from every walk.
    swept.map_or_else(|_| Vec::new(), |swept| swept.kept.iter().map(RelPath::to_string).collect())
}

fn is_held(journal: &Journal, file: &OpenFile) -> bool {
    let Ok(hash) = file.content_hash() else { return false };
    journal.reader().holds_content(&hash).unwrap_or(false)
}

/// Checks whether a file is a partial write of one of `contents`, interrupted or damaged by a loss of power.
fn is_unfinished(file: &OpenFile, contents: &[Vec<u8>]) -> bool {
    let bytes = file.read_to_end(CONTENT_LIMIT_BYTES);
    bytes.is_ok_and(|bytes| bytes.is_empty() || contents.iter().any(|whole| is_partial(&bytes, whole)))
}

/// Everything that the files of these changes held or were to hold.
fn contents_in(journal: &Journal, folder: &RelPath, changes: &[RecordedChange]) -> Vec<Vec<u8>> {
    let is_here = |change: &&RecordedChange| {
        RelPath::from_bytes(&change.path).is_ok_and(|path| path.parent().as_ref() == Some(folder))
    };
    let sides = changes.iter().filter(is_here).flat_map(|change| [change.before, change.after]);
    let hashes = sides.flatten().filter_map(|entry| entry.content);
    hashes.filter_map(|hash| journal.reader().content(&hash).ok().flatten()).collect()
}
