//! Repositories that an undo leaves unchanged: one that is restored in parts is unusable.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::ChangeNumber;
use rel_path::RelPath;

use crate::git::guard::in_git_folder;
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo::left_branch::{LeftTrees, name_left_branches};
use crate::undo::moved_checkouts::MovedCheckouts;
use crate::undo::path::UndoPath;
use crate::undo::plan::{UndoContext, UndoPlan, with_ancestors};

impl UndoPlan {
    /// Skips repositories with an obstacle, and their working trees. The rest of the undo does not depend on them, unless
    /// there is nothing else, or they keep another branch checked out.
    pub(super) fn keep_repositories(
        &mut self,
        context: &UndoContext<'_>,
        chosen: &BTreeSet<ChangeNumber>,
        heads: &[RelPath],
        obstacles: &mut Vec<UndoObstacle>,
    ) -> Result<(), UndoError> {
        let repository = |path: &RelPath| in_git_folder(path).map(|part| part.folder);
        let of_obstacle = |obstacle: &UndoObstacle| repository(&RelPath::parse(&obstacle.path).ok()?);
        let mut kept: BTreeMap<RelPath, bool> = BTreeMap::new();
        for obstacle in obstacles.iter() {
            let is_later = matches!(
                obstacle.why,
                ObstacleKind::ChangedSince
                    | ObstacleKind::LaterChange(_)
                    | ObstacleKind::CheckedOut
                    | ObstacleKind::CheckedOutElsewhere
                    | ObstacleKind::Locked
            );
            if let Some(folder) = of_obstacle(obstacle) {
                *kept.entry(folder).or_insert(true) &= is_later;
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        let trees = self.working_trees_of(context, &kept);
        kept.retain(|folder, _| !with_ancestors(folder).any(|folder| trees.contains_key(&folder)));
        kept.extend(trees);
        let is_in = |path: &RelPath| with_ancestors(path).any(|folder| kept.contains_key(&folder));
        let moved = MovedCheckouts::of(context, chosen, heads, is_in)?;
        // Checking out the branch left there would not restore the previous files.
        name_left_branches(context, obstacles, |head| !moved.include(head));
        let is_kept = |path: &RelPath| is_in(path) || moved.track(path);
        let is_branch = |obstacle: &UndoObstacle| matches!(obstacle.why, ObstacleKind::OtherBranch { .. });
        let others = || self.paths.iter().filter(|path| !is_kept(&path.path));
        let is_other =
            |obstacle: &UndoObstacle| RelPath::parse(&obstacle.path).is_ok_and(|path| !is_kept(&path));
        // A path in its previous state on another branch need not be so on the former branch, and a file that the other
        // branch has, too, is not reverted there.
        let is_elsewhere = obstacles.iter().any(is_branch)
            && (others().any(|path| path.is_undone_already)
                || LeftTrees::of(context, chosen, obstacles)
                    .is_some_and(|trees| others().any(|path| trees.track(&path.path))));
        if is_elsewhere || others().all(UndoPath::is_already_as_before) {
            let only_changed =
                |obstacle: &UndoObstacle| is_other(obstacle) || obstacle.why == ObstacleKind::ChangedSince;
            let is_reverted = others().next().is_some()
                && moved.obstacles().next().is_none()
                && obstacles.iter().all(only_changed);
            if !is_elsewhere && (moved.are_back() || is_reverted) {
                // The user has already returned to the previous checkout, or reverted the files, for example by a commit,
                // which is all that there was to undo.
                self.paths.retain(UndoPath::is_already_as_before);
                obstacles.retain(is_other);
            }
            obstacles.extend(moved.obstacles());
            return Ok(());
        }
        self.paths.retain(|path| !is_kept(&path.path));
        // A checkout of another branch may be the reason for the others.
        let has_others = obstacles.iter().any(is_other);
        obstacles.retain(|obstacle| is_other(obstacle) || has_others && is_branch(obstacle));
        // A folder around one cannot be removed.
        let around = |folder: &RelPath| kept.keys().any(|repository| repository.starts_with(folder));
        let (going, stay): (Vec<_>, Vec<_>) = std::mem::take(&mut self.paths)
            .into_iter()
            .partition(|path| !(path.wanted.is_none() && path.is_now_folder() && around(&path.path)));
        self.paths = going;
        self.kept_folders.extend(stay.into_iter().map(|path| path.path));
        self.other_checkouts = moved.by_repository();
        self.returned = kept.keys().filter(|repository| moved.is_back(repository)).cloned().collect();
        self.kept_repositories = kept;
        Ok(())
    }
}
