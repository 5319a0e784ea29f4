//! The advice for an undo with obstacles.

use std::collections::BTreeSet;

use change_journal::ChangeNumber;
use local_workspace::ObstacleKind;
use wap_core::Reason;

use crate::owner::checkout_command::{checkout_command, way_back};

/// The number of undos that an advice names.
const NAMED_UNDOS: usize = 3;

/// Returns the advice for an undo that later changes, ours or those of other programs, obstruct at some paths.
pub(super) fn way_past(obstacles: &[(&str, &ObstacleKind)]) -> String {
    let later: BTreeSet<ChangeNumber> = obstacles
        .iter()
        .filter_map(|(_, why)| match why {
            ObstacleKind::LaterChange(number) => Some(*number),
            _ => None,
        })
        .collect();
    // The newest first: it may be on top of an older one.
    let mut undos = later.iter().rev().map(|number| format!("`agentd undo {number}`"));
    let named = undos.by_ref().take(NAMED_UNDOS).collect::<Vec<_>>().join(", then ");
    let more = match undos.count() {
        0 => String::new(),
        more => format!(", and {more} more changes, which are listed above"),
    };
    // Files of one branch are not restored into another, even if that is checked out again.
    let others: BTreeSet<Option<String>> =
        obstacles.iter().filter_map(|(_, why)| former_checkout(why)).collect();
    if !others.is_empty() {
        let commands: Vec<_> = others.into_iter().flatten().collect();
        let back = match commands.is_empty() {
            true => String::new(),
            false => format!(": {}", commands.join("; ")),
        };
        return format!(
            "the change checked out something else, and the repository was used since{back}; revert commits with git"
        );
    }
    let checkouts: BTreeSet<String> = obstacles.iter().filter_map(|(_, why)| checkout(why)).collect();
    if !checkouts.is_empty() {
        // Most of the changes revert with the branch.
        let checkouts = checkouts.into_iter().collect::<Vec<_>>().join(", ");
        let undos = if later.is_empty() { String::new() } else { format!(", {named}{more}") };
        let taken: BTreeSet<String> = obstacles.iter().filter_map(|(_, why)| other_tree(why)).collect();
        let taken: String = taken.into_iter().collect();
        return format!(
            "{taken}check out what was checked out then: {checkouts}{undos}; then undo again (where git refuses the checkout, commit \
             or stash your changes first)"
        );
    }
    let any = |is_meant: &dyn Fn(&str, &ObstacleKind) -> bool| {
        obstacles.iter().any(|(path, why)| is_meant(path, why))
    };
    let mut steps = Vec::new();
    if !later.is_empty() {
        steps.push(format!("undo the later changes first: {named}{more}"));
    }
    if any(&|_, why| matches!(why, ObstacleKind::CheckedOut | ObstacleKind::CheckedOutElsewhere)) {
        steps.push("check out another branch there".to_owned());
    }
    if any(&|_, why| matches!(why, ObstacleKind::Locked)) {
        steps.push("wait until git has ended there".to_owned());
    }
    if any(&|_, why| is_behind_link(why)) {
        steps.push("put the folder back that is a link now".to_owned());
    }
    if any(&|path, why| is_changed(why) && !is_in_git_folder(path)) {
        let has_repository = any(&|path, why| is_changed(why) && is_in_git_folder(path));
        let files = match (later.is_empty(), has_repository) {
            (_, true) => "the files outside of `.git`",
            (true, false) => "those files",
            (false, false) => "the other files",
        };
        steps.push(format!("restore {files} to how the change left them"));
    }
    match steps.len() {
        // Files that git keeps for itself are not to be restored by hand.
        0 => "the repository was used since: revert its commits with git".to_owned(),
        1 if later.is_empty() => format!("{}, and undo again", steps[0]),
        _ => format!("{}; then undo again", steps.join("; ")),
    }
}

/// Returns whether it is a file in another state than the change left.
fn is_changed(why: &ObstacleKind) -> bool {
    !matches!(
        why,
        ObstacleKind::LaterChange(_)
            | ObstacleKind::CheckedOut
            | ObstacleKind::CheckedOutElsewhere
            | ObstacleKind::Locked
    ) && !is_behind_link(why)
}

/// Returns whether a folder above the path has been replaced by a link.
pub(super) fn is_behind_link(why: &ObstacleKind) -> bool {
    matches!(why, ObstacleKind::Closed(error) if error.reason() == Reason::IsSymlink)
}

fn is_in_git_folder(path: &str) -> bool {
    path.split('/').any(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns the command that restores the checkout at the time of a change.
fn checkout(why: &ObstacleKind) -> Option<String> {
    let ObstacleKind::OtherBranch { branch, tree, .. } = why else { return None };
    Some(format!("`{}`", checkout_command(tree, branch)))
}

/// Returns the step that is first required in another working tree, which has the branch checked out.
fn other_tree(why: &ObstacleKind) -> Option<String> {
    let ObstacleKind::OtherBranch { branch, taken_by: Some(tree), .. } = why else { return None };
    Some(format!("check out another branch in `{tree}`, which has `{branch}` now; "))
}

/// Returns the sentence on the way back to the checkout before the changes, for a working tree that they have left at another
/// branch; an inner `None` if its name is not kept.
fn former_checkout(why: &ObstacleKind) -> Option<Option<String>> {
    let ObstacleKind::OtherCheckout(checkout) = why else { return None };
    Some(way_back(checkout))
}

#[cfg(test)]
mod tests {
    use wap_core::WapError;

    use super::*;

    #[test]
    fn an_advice_is_one_that_can_be_followed() {
        let link = ObstacleKind::Closed(WapError::new(Reason::IsSymlink, "`src` is a link now"));
        let changed = ObstacleKind::ChangedSince;
        let later = ObstacleKind::LaterChange(ChangeNumber(7));
        let cases: [(&[(&str, &ObstacleKind)], &str); 9] = [
            // The controls.
            (&[("a", &changed)], "restore those files to how the change left them, and undo again"),
            (&[("a", &later)], "undo the later changes first: `agentd undo 7`; then undo again"),
            (
                &[("a", &later), ("b", &changed)],
                "undo the later changes first: `agentd undo 7`; restore the other files to how the change left them; then \
                 undo again",
            ),
            // Files that git keeps for itself.
            (
                &[("sub/.git/index", &changed), (".git/logs/HEAD", &changed)],
                "the repository was used since: revert its commits with git",
            ),
            (
                &[(".git/index", &changed), ("a", &changed)],
                "restore the files outside of `.git` to how the change left them, and undo again",
            ),
            (
                &[(".git/refs/heads/a", &ObstacleKind::CheckedOut)],
                "check out another branch there, and undo again",
            ),
            (
                &[
                    (".git/HEAD", &ObstacleKind::CheckedOutElsewhere),
                    (".git/index.lock", &ObstacleKind::Locked),
                ],
                "check out another branch there; wait until git has ended there; then undo again",
            ),
            (&[("src/a", &link)], "put the folder back that is a link now, and undo again"),
            (
                &[("src/a", &link), ("b", &changed)],
                "put the folder back that is a link now; restore those files to how the change left them; then undo again",
            ),
        ];
        for (obstacles, advice) in cases {
            assert_eq!(way_past(obstacles), advice, "{obstacles:?}");
        }
    }
}
