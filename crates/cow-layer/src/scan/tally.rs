//! The totals of a subtree.

use crate::handle::{Entry, Kind};
use crate::scan::change::TreeSize;

/// The totals of a subtree, without the folder itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) size: TreeSize,
    /// Something in it cannot be named, so it is one change or none.
    pub(super) is_incomplete: bool,
    /// Something in it was saved meanwhile.
    pub(super) saved_meanwhile: bool,
}

impl Tally {
    pub(super) fn of_entry(entry: &Entry) -> Tally {
        let bytes = if entry.kind == Kind::File { entry.size_bytes } else { 0 };
        Tally { size: TreeSize { entries: 1, bytes }, ..Tally::default() }
    }

    /// Returns the totals of a subtree that cannot be read: it may have changed in any way.
    pub(super) fn unknown() -> Tally {
        Tally { is_incomplete: true, saved_meanwhile: true, ..Tally::default() }
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.size.add(other.size);
        self.is_incomplete |= other.is_incomplete;
        self.saved_meanwhile |= other.saved_meanwhile;
    }
}
