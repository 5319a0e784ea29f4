//! Bringing what a command did into the workspace, path by path, and keeping out what does not belong there.

use std::collections::BTreeSet;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::effect::{Effect, EffectSide};
use crate::folder_modes::FolderModes;
use crate::git_guard::in_git_folder;
use crate::present::{Present, PresentKind};
use crate::publish::{publish_dated, publish_file};

/// Where an effect stands in the order of adoption: a repository's references change only when everything that they
/// lead to is there, and nothing goes that they may still lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Removal,
    Change,
    NewObject,
    RepositoryRemoval,
    Repository,
    /// What git reads first.
    Head,
    OldObject,
}

/// Orders effects so that each can be carried out after those before it.
pub(crate) fn in_order(effects: &[Effect]) -> Vec<usize> {
    // A folder that goes with a repository in it goes after that.
    let around_repositories: BTreeSet<RelPath> = effects
        .iter()
        .filter(|effect| effect.after.is_none())
        .filter_map(|effect| in_git_folder(&effect.path))
        .flat_map(|place| std::iter::successors(place.folder.parent(), RelPath::parent))
        .collect();
    let turn = |effect: &Effect| match turn(effect) {
        Turn::Removal if around_repositories.contains(&effect.path) => Turn::OldObject,
        turn => turn,
    };
    let mut order: Vec<_> = (0..effects.len()).collect();
    order.sort_by(|one, other| {
        let (one, other) = (&effects[*one], &effects[*other]);
        let (turn_of_one, turn_of_other) = (turn(one), turn(other));
        let by_path = one.path.cmp(&other.path);
        // A folder goes after what is in it, and comes before.
        let goes = matches!(turn_of_one, Turn::Removal | Turn::RepositoryRemoval | Turn::OldObject);
        turn_of_one.cmp(&turn_of_other).then(if goes { by_path.reverse() } else { by_path })
    });
    order
}

fn turn(effect: &Effect) -> Turn {
    let goes = effect.after.is_none();
    match in_git_folder(&effect.path) {
        None if goes => Turn::Removal,
        None => Turn::Change,
        // The folder itself comes before what is in it, and goes after.
        Some(place) if place.names.is_empty() => {
            if goes {
                Turn::OldObject
            } else {
                Turn::Change
            }
        }
        Some(place) if place.is_object() => {
            if goes {
                Turn::OldObject
            } else {
                Turn::NewObject
            }
        }
        Some(_) if goes => Turn::RepositoryRemoval,
        Some(place) if place.names.len() == 1 && matches!(place.names[0], b"HEAD" | b"index") => Turn::Head,
        Some(_) => Turn::Repository,
    }
}

/// What became of effects, by their index.
#[derive(Debug, Default)]
pub(crate) struct Adopted {
    pub done: Vec<usize>,
    pub failed: Vec<(usize, FsError)>,
}

/// Carries out effects that are recorded. `other` does it for those whose after side the journal does not keep.
///
/// If a part of a repository cannot be had, the rest of it is left as well.
pub(crate) fn adopt(
    root: &FileRoot,
    effects: &[Effect],
    other: &mut dyn FnMut(usize) -> Result<(), FsError>,
) -> Adopted {
    let modes = folder_modes(effects);
    modes.open(root);
    let mut adopted = Adopted::default();
    let mut broken: BTreeSet<RelPath> = BTreeSet::new();
    for index in in_order(effects) {
        let effect = &effects[index];
        let repository = in_git_folder(&effect.path).map(|place| place.folder);
        let is_left = repository.as_ref().is_some_and(|folder| broken.contains(folder));
        let done = if is_left {
            Err(FsError::Changed { path: effect.path.clone() })
        } else {
            match (&effect.before, &effect.after) {
                (_, Some(EffectSide::Unkept(_))) => other(index),
                (Some(before), _) if before.present().is_none() => other(index),
                _ => carry_out(root, effect),
            }
        };
        match done {
            Ok(()) => adopted.done.push(index),
            Err(error) => {
                broken.extend(repository);
                adopted.failed.push((index, error));
            }
        }
    }
    for (path, error) in modes.close(root) {
        if let Some(index) = effects.iter().position(|effect| effect.path == path) {
            adopted.done.retain(|done| *done != index);
            adopted.failed.push((index, error));
        }
    }
    adopted
}

/// The folders whose permission bits are in the way, or change.
pub(crate) fn folder_modes(effects: &[Effect]) -> FolderModes {
    let mut modes = FolderModes::default();
    for effect in effects {
        let mode = |side: &Option<EffectSide>| {
            side.as_ref().filter(|side| side.kind() == PresentKind::Folder).and_then(EffectSide::mode)
        };
        let is_tree = matches!(&effect.after, Some(EffectSide::Unkept(_)));
        modes.add(&effect.path, mode(&effect.before), mode(&effect.after).filter(|_| !is_tree));
    }
    modes
}

fn carry_out(root: &FileRoot, effect: &Effect) -> Result<(), FsError> {
    let [before, after] =
        [&effect.before, &effect.after].map(|side| side.as_ref().and_then(EffectSide::present));
    let done =
        publish_dated(root, &effect.path, before.as_ref(), after.as_ref(), effect.modified_nanoseconds);
    match done {
        // A folder that somebody has put something into is theirs as well.
        Err(FsError::FolderNotEmpty { .. }) if after.is_none() => Ok(()),
        Err(FsError::NotFound { .. } | FsError::ParentMissing { .. }) if after.is_none() => Ok(()),
        other => other,
    }
}

/// Puts what a command wrote where it must not back to what was there. Answers with the paths where that failed.
pub(crate) fn put_back(root: &FileRoot, effects: &[Effect]) -> Vec<RelPath> {
    let modes = {
        let mut modes = FolderModes::default();
        for effect in effects {
            let mode = |side: &Option<EffectSide>| {
                side.as_ref().filter(|side| side.kind() == PresentKind::Folder).and_then(EffectSide::mode)
            };
            modes.add(&effect.path, mode(&effect.after), mode(&effect.before));
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
        let done = Present::of_any_kind(root, &effect.path).and_then(|now| match (&now, &wanted) {
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
