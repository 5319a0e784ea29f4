//! Temporary files beside those that were being changed when a crash came.

use std::collections::BTreeSet;

use change_journal::{ContentHash, Journal, RecordedChange};
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
    let swept = root.sweep_leftovers(folder, |file| {
        is_held(journal, file) || is_unfinished(journal, folder, changes, file)
    });
    // A folder that is gone or cannot be read has nothing to clear; what cannot be removed is hidden from every walk.
    swept.map_or_else(|_| Vec::new(), |swept| swept.kept.iter().map(RelPath::to_string).collect())
}

fn is_held(journal: &Journal, file: &OpenFile) -> bool {
    let Ok(hash) = file.content_hash() else { return false };
    journal.reader().holds_content(&hash).unwrap_or(false)
}

/// Checks whether a file is a partial write of what the files of these changes held or were to hold. The contents are read one
/// after the other: all of them together may be larger than the memory.
fn is_unfinished(journal: &Journal, folder: &RelPath, changes: &[RecordedChange], file: &OpenFile) -> bool {
    let Ok(bytes) = file.read_to_end(CONTENT_LIMIT_BYTES) else { return false };
    let mut compared = BTreeSet::new();
    bytes.is_empty()
        || candidates(folder, changes).any(|(hash, origin)| {
            compared.insert((hash, origin))
                && journal.reader().content(&hash).ok().flatten().is_some_and(|whole| match origin {
                    Origin::Interrupted => whole.starts_with(&bytes),
                    Origin::PowerLoss => is_partial(&bytes, &whole),
                })
        })
}

/// The event that may have left a file unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// The process ended while it wrote: the file begins like the version that was coming.
    Interrupted,
    /// The machine lost power: parts of any version may be missing.
    PowerLoss,
}

/// The contents that a file in `folder` may be a part of. As long as the machine runs, a part of the version before a change
/// is another program's: it saved a shorter version, which the exchange displaced.
fn candidates<'c>(
    folder: &'c RelPath,
    changes: &'c [RecordedChange],
) -> impl Iterator<Item = (ContentHash, Origin)> + 'c {
    let is_here = |change: &&RecordedChange| {
        RelPath::from_bytes(&change.path).is_ok_and(|path| path.parent().as_ref() == Some(folder))
    };
    changes.iter().filter(is_here).flat_map(|change| {
        let (before, origin) = match change.this_boot {
            true => (None, Origin::Interrupted),
            false => (change.before, Origin::PowerLoss),
        };
        let contents = [before, change.after].into_iter().flatten().filter_map(|entry| entry.content);
        contents.map(move |hash| (hash, origin))
    })
}
