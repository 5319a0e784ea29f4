//! The order in which changes can be adopted one by one.

use crate::scan::change::{LayerChange, Side};

/// Orders changes for adoption. `sorted` lists every folder before its children.
pub(crate) fn of(sorted: &[LayerChange]) -> impl Iterator<Item = &LayerChange> {
    // New entries never wait for a removal, so a crash in between leaves a renamed file under both names and
    // not under none.
    let arrivals = sorted.iter().filter(|change| !empties_a_folder(change));
    arrivals.chain(sorted.iter().rev().filter(|change| empties_a_folder(change)))
}

/// Returns whether the change removes an entry, or replaces a folder by another kind of entry: both come
/// after the removal of the folder's children.
fn empties_a_folder(change: &LayerChange) -> bool {
    let was_folder = change.before.as_ref().is_some_and(Side::is_folder);
    change.after.as_ref().is_none_or(|after| was_folder && !after.is_folder())
}
