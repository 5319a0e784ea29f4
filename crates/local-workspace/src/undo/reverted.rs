//! Changes that another program has reverted: the user by hand, or git by a checkout.

use std::collections::BTreeSet;

use change_journal::{ChangeNumber, Entry, RecordedChange};
use rel_path::RelPath;

use crate::change::present::Present;
use crate::undo::history::{InForce, WayBack};
use crate::undo::path::{Side, is_about_folder, is_at, is_same};
use crate::undo::plan::UndoContext;

/// Determines how to revert the chosen changes of a path. Later ones that another program has reverted are undone as
/// well: alone, nothing would be left to do for them.
pub(super) fn way_back_of(
    context: &UndoContext<'_>,
    chosen: &BTreeSet<ChangeNumber>,
    path: &RelPath,
    changes: Vec<RecordedChange>,
) -> WayBack {
    let in_force = InForce::of(changes);
    let way = in_force.clone().way_back(&|number| chosen.contains(&number));
    let Some(buried) = way.buried.as_ref().map(|buried| buried.number) else { return way };
    let all = in_force.way_back(&|number| number > buried || chosen.contains(&number));
    let Ok(present) = Present::where_left(context.root, path, None) else { return way };
    let reverted = reverted(context, path, present.as_ref(), &all.back);
    let is_chosen = |(number, _): &(ChangeNumber, RecordedChange)| chosen.contains(number);
    let is_possible = reverted > 0 && all.buried.is_none() && all.back.iter().skip(reverted).all(is_chosen);
    let is_folder = all.back.iter().all(|(_, change)| is_about_folder(change));
    if is_possible && !is_folder { all } else { way }
}

/// Returns the number of the newest changes that another program has reverted: the path is in the state before them.
pub(super) fn reverted(
    context: &UndoContext<'_>,
    path: &RelPath,
    present: Option<&Present>,
    back: &[(ChangeNumber, RecordedChange)],
) -> usize {
    let is_at = |side: Option<&Entry>| is_at(context, path, present, side.map(Side::from));
    let now = present.map(Side::from);
    let is_exactly = |side: Option<&Entry>| is_same(now, side.map(Side::from));
    let is_exactly_before = back.iter().any(|(_, change)| is_exactly(change.before.as_ref()));
    let is_left = |newest: &RecordedChange| {
        let after = newest.after.as_ref();
        is_exactly(after) || !is_exactly_before && is_at(after)
    };
    if back.first().is_none_or(|(_, newest)| is_left(newest)) {
        return 0;
    }
    let before = |(_, change): &(ChangeNumber, RecordedChange)| is_at(change.before.as_ref());
    back.iter().rposition(before).map_or(0, |index| index + 1)
}
