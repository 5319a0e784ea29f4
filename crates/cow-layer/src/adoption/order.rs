//! The order in which changes can be adopted one by one.

use crate::scan::change::{LayerChange, Side};

/// `sorted` has every folder before what is in it.
pub(crate) fn of(sorted: &[LayerChange]) -> impl Iterator<Item = &LayerChange> {
    // What comes new never waits for a removal, so that a crash in between leaves a renamed file twice, not nowhere.
    let arrivals = sorted.iter().filter(|change| !empties_a_folder(change));
    arrivals.chain(sorted.iter().rev().filter(|change| empties_a_folder(change)))
}

/// Whether everything in a folder must be gone, or nothing can be in it, before this change.
fn empties_a_folder(change: &LayerChange) -> bool {
    let was_folder = change.before.as_ref().is_some_and(Side::is_folder);
    change.after.as_ref().is_none_or(|after| was_folder && !after.is_folder())
}
