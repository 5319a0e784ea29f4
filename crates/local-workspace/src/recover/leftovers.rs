//! Temporary files next to those that were being changed during a crash.

use std::collections::BTreeSet;

use change_journal::{ContentHash, Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, OpenFile};

use crate::change::present::CONTENT_LIMIT_BYTES;
use crate::recover::partial_write::is_partial;

/// The temporary files that a crash may have left next to the files of some changes.
#[derive(Debug)]
pub(crate) struct Leftovers<'a> {
    pub journal: &'a Journal,
    /// The changes that are not settled.
    pub changes: &'a [RecordedChange],
    /// The paths that already had their new content before recovery changed anything.
    pub in_place: &'a BTreeSet<RelPath>,
}

impl Leftovers<'_> {
    /// Removes the leftovers of a crash in `folder`. Returns the names of versions that other programs wrote, which are
    /// kept.
    pub(crate) fn clear(&self, root: &FileRoot, folder: &RelPath) -> Vec<String> {
        let swept = root.sweep_leftovers(folder, |file| {
            self.is_of_change(folder, file) || self.is_unfinished(folder, file)
        });
        // A missing or unreadable folder has nothing to clear; files that cannot be removed are hidden from every walk.
        swept.map_or_else(|_| Vec::new(), |swept| swept.kept.iter().map(RelPath::to_string).collect())
    }

    /// Checks whether a file is the old or new version of one of the changes, and the journal has it. Any other content
    /// was saved by another program and displaced by an exchange: even if the journal has that content from an earlier
    /// change, the program intended the file to have it now.
    fn is_of_change(&self, folder: &RelPath, file: &OpenFile) -> bool {
        let Ok(hash) = file.content_hash() else { return false };
        let sides = self.changes_in(folder).flat_map(|change| [change.before, change.after]).flatten();
        sides.filter_map(|side| side.content).any(|content| content == hash)
            && self.journal.reader().holds_content(&hash).unwrap_or(false)
    }

    /// Checks whether a file is a partial write of the old or new version of these changes. The contents are read one
    /// at a time: together they may exceed the memory.
    fn is_unfinished(&self, folder: &RelPath, file: &OpenFile) -> bool {
        let Ok(bytes) = file.read_to_end(CONTENT_LIMIT_BYTES) else { return false };
        let mut compared = BTreeSet::new();
        bytes.is_empty()
            || self.candidates(folder).any(|(hash, origin)| {
                compared.insert((hash, origin))
                    && self.journal.reader().content(&hash).ok().flatten().is_some_and(|whole| match origin {
                        Origin::Interrupted => whole.starts_with(&bytes),
                        Origin::PowerLoss => is_partial(&bytes, &whole),
                    })
            })
    }

    /// The contents that a file in `folder` may be a part of. Unless the machine crashed, a part of the version before
    /// a change is another program's: it saved a shorter version, which the exchange displaced. So is a part of a
    /// published version, because that was complete before.
    fn candidates(&self, folder: &RelPath) -> impl Iterator<Item = (ContentHash, Origin)> {
        self.changes_in(folder).flat_map(|change| {
            let (before, after, origin) = match change.this_boot {
                true if self.is_in_place(change) => (None, None, Origin::Interrupted),
                true => (None, change.after, Origin::Interrupted),
                false => (change.before, change.after, Origin::PowerLoss),
            };
            let contents = [before, after].into_iter().flatten().filter_map(|entry| entry.content);
            contents.map(move |hash| (hash, origin))
        })
    }

    fn changes_in(&self, folder: &RelPath) -> impl Iterator<Item = &RecordedChange> {
        let is_here = move |change: &&RecordedChange| {
            RelPath::from_bytes(&change.path).is_ok_and(|path| path.parent().as_ref() == Some(folder))
        };
        self.changes.iter().filter(is_here)
    }

    fn is_in_place(&self, change: &RecordedChange) -> bool {
        RelPath::from_bytes(&change.path).is_ok_and(|path| self.in_place.contains(&path))
    }
}

/// The event that may have left a file unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// The process ended while writing: the file begins like the new version.
    Interrupted,
    /// The machine lost power: parts of any version may be missing.
    PowerLoss,
}
