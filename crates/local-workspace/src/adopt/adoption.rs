//! Adopts the changes of a command into the workspace, path by path, and keeps out the ones that do not belong there.

use std::collections::BTreeSet;
use std::path::Path;

use cow_layer::AdoptError;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::adopt::reference_order::{ReferenceOrder, ReferenceTurn};
use crate::change::folder_modes::FolderModes;
use crate::change::present::{Present, PresentKind};
use crate::change::publish::{publish_file, without_mask};
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::in_git_folder;
use crate::git::linked_folders::linked_folder;

/// The position of an effect in the order of adoption: a repository's references change only when their targets are
/// there, no possible target is removed before them, and [no reference is missing meanwhile](ReferenceTurn).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// The permissions of a folder that stays, which may obstruct changes within it.
    Folder,
    Removal,
    Change,
    NewObject,
    RepositoryRemoval,
    Repository,
    PackedReferences,
    /// The files that git reads first.
    Head,
    ListRemoval,
    ReferenceRemoval,
    /// Possible targets of references, and contents of which another effect may not have a copy yet.
    Last,
}

/// Orders effects so that they can be carried out in sequence.
pub(crate) fn in_order(effects: &[Effect]) -> Vec<usize> {
    let replaced: BTreeSet<&RelPath> =
        effects.iter().filter(|effect| is_replaced_folder(effect)).map(|effect| &effect.path).collect();
    let makes_room = |effect: &Effect| {
        std::iter::successors(effect.path.parent(), RelPath::parent).any(|folder| replaced.contains(&folder))
    };
    let is_late = |effect: &Effect| {
        effect.after.is_none()
            && (in_git_folder(&effect.path).is_some() || !effect.is_undoable())
            && !makes_room(effect)
    };
    // A folder is removed after any late removals within it.
    let around: BTreeSet<RelPath> = effects
        .iter()
        .filter(|effect| is_late(effect))
        .flat_map(|effect| std::iter::successors(effect.path.parent(), RelPath::parent))
        .collect();
    let kind = |effect: &Effect| effect.kind_after().map(PresentKind::entry_kind);
    let references = ReferenceOrder::of(effects.iter().map(|effect| (&effect.path, kind(effect))));
    let turn = |effect: &Effect| match (turn(effect), references.turn(&effect.path, kind(effect))) {
        (Turn::Removal, _) if is_late(effect) || around.contains(&effect.path) => Turn::Last,
        (Turn::RepositoryRemoval | Turn::Repository, Some(turn)) => match turn {
            ReferenceTurn::Reference => Turn::Repository,
            ReferenceTurn::PackedReferences => Turn::PackedReferences,
            ReferenceTurn::Head => Turn::Head,
            ReferenceTurn::ListRemoval => Turn::ListRemoval,
            ReferenceTurn::Removal => Turn::ReferenceRemoval,
        },
        (turn, _) => turn,
    };
    let turns: Vec<Turn> = effects.iter().map(turn).collect();
    let mut order: Vec<_> = (0..effects.len()).collect();
    order.sort_by(|one, other| {
        let by_path = effects[*one].path.cmp(&effects[*other].path);
        // A folder is removed after its entries, and created before them.
        let goes = matches!(
            turns[*one],
            Turn::Removal | Turn::RepositoryRemoval | Turn::ReferenceRemoval | Turn::Last
        );
        turns[*one].cmp(&turns[*other]).then(if goes { by_path.reverse() } else { by_path })
    });
    order
}

/// Checks whether something else replaces a folder.
fn is_replaced_folder(effect: &Effect) -> bool {
    let folder = Some(PresentKind::Folder);
    effect.kind_before() == folder && effect.kind_after() != folder && effect.after.is_some()
}

fn turn(effect: &Effect) -> Turn {
    let folder = Some(PresentKind::Folder);
    if effect.kind_before() == folder && effect.kind_after() == folder {
        return Turn::Folder;
    }
    let goes = effect.after.is_none();
    match in_git_folder(&effect.path) {
        None if goes => Turn::Removal,
        None => Turn::Change,
        // A `.git` file points to a repository, which comes first.
        Some(part) if part.names.is_empty() && effect.kind_after() == Some(PresentKind::File) => Turn::Head,
        // The folder itself is created before its entries, and removed after them.
        Some(part) if part.names.is_empty() => {
            if goes {
                Turn::Last
            } else {
                Turn::Change
            }
        }
        Some(part) if part.is_object() => {
            if goes {
                Turn::Last
            } else {
                Turn::NewObject
            }
        }
        Some(_) if goes => Turn::RepositoryRemoval,
        Some(_) => Turn::Repository,
    }
}

/// The outcomes of effects, by their index.
#[derive(Debug, Default)]
pub(crate) struct Adopted {
    pub done: Vec<usize>,
    pub failed: Vec<(usize, AdoptError)>,
    /// Removals that were skipped, because they may remove the only copy of something that failed.
    pub left: Vec<usize>,
}

/// Carries out recorded effects in sequence by calling `put` with their indexes.
///
/// If a part of a repository cannot be adopted, the rest is skipped as well. If the only copy of some content cannot
/// be adopted, such as a large renamed file, anything that may be that copy is kept.
pub(crate) fn adopt(
    effects: &[Effect],
    workspace: Option<&Path>,
    put: &mut dyn FnMut(usize) -> Result<(), AdoptError>,
) -> Adopted {
    let mut adopted = Adopted::default();
    let mut broken: BTreeSet<RelPath> = BTreeSet::new();
    for index in in_order(effects) {
        let effect = &effects[index];
        let repository = in_git_folder(&effect.path).map(|part| part.folder);
        let linked = linked_repositories(effect, workspace);
        let is_only_copy = effect.after.is_none() && !effect.is_undoable();
        if is_only_copy && adopted.failed.iter().any(|(failed, _)| !effects[*failed].is_undoable()) {
            adopted.left.push(index);
            continue;
        }
        let is_left = repository.iter().chain(&linked).any(|folder| broken.contains(folder));
        let done = if is_left { Err(AdoptError::Changed { path: effect.path.clone() }) } else { put(index) };
        match done {
            Ok(()) => adopted.done.push(index),
            // Another process has put something into a folder that the command removed: the folder stays.
            Err(AdoptError::FolderNotEmpty { .. }) if effect.after.is_none() => adopted.done.push(index),
            Err(error) => {
                broken.extend(repository);
                adopted.failed.push((index, error));
            }
        }
    }
    adopted
}

/// Returns the repositories that a `.git` file pointed to before an effect and points to after it.
pub(crate) fn linked_repositories(effect: &Effect, workspace: Option<&Path>) -> BTreeSet<RelPath> {
    let is_link = in_git_folder(&effect.path).is_some_and(|part| part.names.is_empty());
    let texts = [effect.text_before(), effect.text_after()].into_iter().flatten().filter(|_| is_link);
    let folders = texts.filter_map(|text| linked_folder(&effect.path, text, workspace));
    folders.filter_map(|folder| in_git_folder(&folder).map(|part| part.folder)).collect()
}

/// Reads the state to replace. A file that is too large to read, or that the command has closed to its owner, is
/// removed at once, because none of it is kept.
fn present_to_replace(root: &FileRoot, path: &RelPath) -> Result<Option<Present>, FsError> {
    match Present::of_any_kind(root, path) {
        Err(FsError::TooLarge { .. } | FsError::OsPermission { .. }) => {
            root.remove_file(path, None).map(|_| None)
        }
        outcome => outcome,
    }
}

/// Restores paths that a command must not write. Returns the paths where that failed.
pub(crate) fn put_back(root: &FileRoot, effects: &[Effect]) -> Vec<RelPath> {
    let modes = {
        let mut modes = FolderModes::default();
        for effect in effects {
            let mode = |side: &Option<EffectSide>| {
                side.as_ref().filter(|side| side.kind() == PresentKind::Folder).and_then(EffectSide::mode)
            };
            let is_known =
                matches!(&effect.before, Some(EffectSide::Kept(present)) if present.attributes.is_some());
            let is_new = effect.kind_after() != Some(PresentKind::Folder) && !is_known;
            // The access list of a folder that has to be recreated is unknown.
            let wanted = mode(&effect.before).map(|mode| if is_new { without_mask(mode) } else { mode });
            modes.add(&effect.path, mode(&effect.after), wanted);
        }
        modes
    };
    modes.open(root);
    let mut failed = Vec::new();
    let (going, coming): (Vec<_>, Vec<_>) = effects.iter().partition(|effect| effect.before.is_none());
    for effect in going.into_iter().rev().chain(coming) {
        let wanted = match &effect.before {
            None => None,
            Some(EffectSide::Kept(present)) => Some(present.clone()),
            Some(EffectSide::Unkept(_)) => {
                failed.push(effect.path.clone());
                continue;
            }
        };
        let done = present_to_replace(root, &effect.path).and_then(|now| match (&now, &wanted) {
            (None, None) => Ok(()),
            _ => publish_file(root, &effect.path, now.as_ref(), wanted.as_ref()),
        });
        match done {
            Ok(()) => {}
            // Something in it is kept, so the folder is as well.
            Err(FsError::FolderNotEmpty { .. }) if effect.kind_after() == Some(PresentKind::Folder) => {}
            Err(_) => failed.push(effect.path.clone()),
        }
    }
    failed.extend(modes.close(root).into_iter().map(|(path, _)| path));
    failed
}
