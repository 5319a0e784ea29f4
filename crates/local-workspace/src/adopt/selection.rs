//! The effects of a command on its layer that are adopted, and those that are kept out.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeRecord as JournalChange, ChangeState};
use cow_layer::{Layer, LayerChanges};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::adopt::adoption::linked_repositories;
use crate::adopt::guard::Sorted;
use crate::adopt::left_names::LeftNames;
use crate::adopt::repository_use::RepositoriesInUse;
use crate::adopt::working_trees::with_folders;
use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::command::effect_notes::{
    EffectNotes, changed_directions, changed_histories, obeyed_names, unfinished_work, unnoticed_changes,
    widened_access,
};
use crate::command::effects::not_undoable;
use crate::git::guard::in_git_folder;
use crate::git::refusal::Refusal;

/// The effects of a command on its layer, by their treatment.
pub(crate) struct Selection {
    /// To be adopted.
    pub(crate) wanted: Vec<Effect>,
    /// Kept out, since others have changed the same file, or the same repository, while the command ran.
    conflicts: Vec<Effect>,
    /// Kept out by the guard, with its reasons.
    refused: Vec<(Effect, Refusal)>,
    /// Kept out because copies would exceed the limit.
    left: LeftNames,
    /// Kept out, since they would replace the possibly only version of a file that is kept out.
    only_versions: Vec<Effect>,
    /// The locks of repositories that others use, by the folders of the repositories.
    locks: BTreeMap<RelPath, RelPath>,
}

impl Selection {
    /// Selects among the effects that the guard has `sorted`. `changed` are the paths that were changed through the engine while the
    /// layer was read.
    pub(crate) fn of(
        layer: &Layer,
        root: &FileRoot,
        changes: &LayerChanges,
        sorted: Sorted,
        changed: &BTreeSet<RelPath>,
    ) -> Selection {
        let Sorted { allowed, refused, working_trees, .. } = sorted;
        let RepositoriesInUse { folders: in_use, locks } = RepositoriesInUse::of(layer, root, changes);
        let (left, allowed) = LeftNames::take(changes, allowed);
        // If a repository lacks a part, nothing else of it is adopted either.
        let in_use: BTreeSet<_> = in_use.union(&left.repositories).cloned().collect();
        let working_trees = working_trees.folders_of(&in_use);
        let is_theirs = |effect: &Effect| {
            changes.find(&effect.path).is_none_or(|change| change.saved_meanwhile)
                || is_touched(effect, changed)
                || in_git_folder(&effect.path).is_some_and(|part| in_use.contains(&part.folder))
                // A file that points back to a `.git` file stays unchanged.
                || !linked_repositories(effect, root.path()).is_disjoint(&in_use)
                || with_folders(&effect.path).any(|folder| working_trees.contains(&folder))
        };
        let (conflicts, wanted): (Vec<_>, Vec<_>) = allowed.into_iter().partition(is_theirs);
        let refused_effects = refused.iter().map(|(effect, _)| effect);
        let (only_versions, wanted) =
            left.take_only_versions(wanted, conflicts.iter().chain(refused_effects));
        Selection { wanted, conflicts, refused, left, only_versions, locks }
    }

    /// Adds the information for the model to the notes.
    pub(crate) fn note(&self, root: &FileRoot, notes: &mut EffectNotes) {
        notes.left_names = self.left.effects.iter().map(|effect| effect.path.to_string()).collect();
        notes.left_repositories = self.left.repositories.iter().map(RelPath::to_string).collect();
        let stays = "it may be the only version of a file that was not kept";
        let stays = |effect: &Effect| (effect.path.to_string(), stays.to_owned());
        notes.failed.extend(self.only_versions.iter().map(stays));
        let reason = |(effect, why): &(Effect, Refusal)| (effect.path.to_string(), why.clone());
        notes.refused = self.refused.iter().map(reason).collect();
        self.note_conflicts(notes);
        notes.obeyed = obeyed_names(root, &self.wanted);
        notes.directions = changed_directions(root, &self.wanted);
        notes.histories = changed_histories(root, &self.wanted);
        notes.unfinished = unfinished_work(root, &self.wanted);
        notes.unnoticed = unnoticed_changes(root, &self.wanted);
        notes.widened = widened_access(&self.wanted);
        notes.not_undoable.extend(not_undoable(&self.wanted));
        let lost: Vec<_> = not_undoable(&self.conflicts).map(|path| format!("`{path}`")).collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            notes.other.push(format!("the command's versions of these were too large to be kept: {lost}"));
        }
    }

    fn note_conflicts(&self, notes: &mut EffectNotes) {
        for effect in &self.conflicts {
            let repository = in_git_folder(&effect.path).map(|part| part.folder);
            match repository.as_ref().and_then(|folder| self.locks.get(folder)) {
                Some(lock) => notes.locks.push(lock.to_string()),
                None if repository.as_ref().is_some_and(|folder| self.left.repositories.contains(folder)) => {
                }
                None if repository.is_some() => notes.repositories.push(shown_conflict(effect)),
                None => notes.conflicts.push(shown_conflict(effect)),
            }
        }
        for list in [&mut notes.conflicts, &mut notes.repositories, &mut notes.locks] {
            list.dedup();
        }
    }

    /// Returns the records of all of them for the journal: first those to be adopted, in their order.
    pub(crate) fn records(&self) -> Vec<JournalChange<'_>> {
        let kept_out = |effect| JournalChange { state: ChangeState::Conflicted, ..Effect::record(effect) };
        let refused = self.refused.iter().map(|(effect, _)| effect);
        let out = self.conflicts.iter().chain(&self.left.effects).chain(&self.only_versions).chain(refused);
        self.wanted.iter().map(Effect::record).chain(out.map(kept_out)).collect()
    }
}

/// Checks whether an effect concerns a path that was changed while the layer was read, or removes a folder that
/// contains one.
fn is_touched(effect: &Effect, paths: &BTreeSet<RelPath>) -> bool {
    let goes = effect.kind_after() != Some(PresentKind::Folder);
    paths.contains(&effect.path) || goes && paths.iter().any(|path| path.starts_with(&effect.path))
}

/// Names a conflict: a repository is adopted as a whole or not at all, so it is named as a whole.
pub(super) fn shown_conflict(effect: &Effect) -> String {
    in_git_folder(&effect.path).map_or_else(|| effect.path.to_string(), |part| part.folder.to_string())
}
