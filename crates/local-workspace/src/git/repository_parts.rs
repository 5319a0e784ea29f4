//! The folders that git would treat as repositories once changes are made, by any tool.
//!
//! Git treats a folder without a `.git` as a repository as soon as it contains certain names, and then obeys its
//! settings and hooks in everything below. The parts may come one by one, from file tools, commands and undos in any
//! order, so every change is judged by the resulting state, and a change that would complete a repository is refused.

use std::collections::{BTreeMap, BTreeSet};

use git_index::{is_reference, is_unfinished_work};
use rel_path::{RelPath, fold_name};

use crate::command::effect::Effect;
use crate::git::disguised_names::is_disguised;
use crate::git::guard::{InRepository, Refusal, in_git_folder, is_index};
use crate::git::repository_context::RepositoryContext;

/// Names in a repository's folder that determine the programs that git runs or the paths that it reads.
const OBEYED: [&[u8]; 4] = [b"HEAD", b"commondir", b"config", b"config.worktree"];

/// Names of folders with the same effect.
const FOLDERS: [&[u8]; 6] = [b"branches", b"hooks", b"objects", b"refs", b"remotes", b"worktrees"];

/// Returns the reason to refuse a change that makes a folder without a `.git` a repository, or changes files that git
/// obeys in an existing one; `None` if it does neither.
pub(crate) fn part_refusal(effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
    part_refusal_outside(effect, context, &|_| false)
}

/// Returns the same, except for folders for which `is_restored` returns true.
pub(crate) fn part_refusal_outside(
    effect: &Effect,
    context: &RepositoryContext<'_>,
    is_restored: &dyn Fn(&RelPath) -> bool,
) -> Option<Refusal> {
    if !may_be_part(&effect.path) || in_git_folder(&effect.path).is_some() {
        return None;
    }
    let names: Vec<_> = effect.path.components().collect();
    for index in (0..names.len()).filter(|index| is_part(&names, *index)) {
        let folder = RelPath::from_bytes(&names[..index].join(&b'/')).unwrap_or_default();
        if is_repository(&folder, context.was_there) {
            // A repository that is removed as a whole takes its settings and hooks with it.
            if effect.after.is_none() && !folder.is_root() && !(context.is_there)(&folder) {
                continue;
            }
            let part = InRepository { folder, names: names[index..].to_vec() };
            if let Some(refusal) = part.refusal(effect, context) {
                return Some(refusal);
            }
        } else if effect.after.is_some() && is_repository(&folder, context.is_there) && !is_restored(&folder)
        {
            // Any of its parts may be the missing one.
            return Some(Refusal::BareRepository(folder));
        }
    }
    None
}

/// Returns a path relative to the repository that contains it, which may be an existing one without a `.git`.
pub(crate) fn repository_part<'a>(
    path: &'a RelPath,
    context: &RepositoryContext<'_>,
) -> Option<InRepository<'a>> {
    in_git_folder(path).or_else(|| {
        let mut folders = repositories_with_part(path).into_iter();
        let folder = folders.find(|folder| is_repository(folder, context.was_there))?;
        let names = path.components().skip(folder.components().count()).collect();
        Some(InRepository { folder, names })
    })
}

/// Returns whether a path has a name in it that a repository's folder would have.
pub(crate) fn may_be_part(path: &RelPath) -> bool {
    let names: Vec<_> = path.components().collect();
    (0..names.len()).any(|index| is_part(&names, index))
}

/// Returns the folders that a path would be a part of if they were repositories.
pub(crate) fn repositories_with_part(path: &RelPath) -> Vec<RelPath> {
    let names: Vec<_> = path.components().collect();
    let parts = (0..names.len()).filter(|index| is_part(&names, *index));
    parts.map(|index| RelPath::from_bytes(&names[..index].join(&b'/')).unwrap_or_default()).collect()
}

fn is_part(names: &[&[u8]], index: usize) -> bool {
    let name = names[index];
    let is_last = index + 1 == names.len();
    let is_obeyed = || is_one_of(name, &OBEYED) || is_index_name(name) || is_reference([name]);
    // Its files are in the repository's folder, or in one folder below.
    let is_of_unfinished_work =
        || names.len() - index <= 2 && is_unfinished_work(names[index..].iter().copied());
    is_last && is_obeyed()
        || is_of_unfinished_work()
        || is_one_of(name, &FOLDERS)
        || is_disguised(name)
        || is_one_of(name, &[b"info"]) && names.last().is_some_and(|last| is_one_of(last, &[b"attributes"]))
}

fn is_index_name(name: &[u8]) -> bool {
    RelPath::from_bytes(name).is_ok_and(|name| is_index(&name))
}

fn is_one_of(name: &[u8], list: &[&[u8]]) -> bool {
    list.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Returns whether git would treat a folder as a repository. The content of `HEAD` is ignored: a later change could
/// make it valid.
pub(crate) fn is_repository(folder: &RelPath, is_there: &dyn Fn(&RelPath) -> bool) -> bool {
    let has = |name: &[u8]| folder.child(name).is_ok_and(|path| is_there(&path));
    has(b"HEAD") && (has(b"commondir") || has(b"objects") && has(b"refs"))
}

/// The paths that some changes fill and empty, compared as on case-insensitive file systems.
#[derive(Debug, Default)]
pub(crate) struct TouchedPaths {
    /// For each exact path, true if it is filled.
    exact: BTreeMap<RelPath, bool>,
    /// Filled paths, folded.
    folded: BTreeSet<Vec<u8>>,
}

impl TouchedPaths {
    pub(crate) fn add(&mut self, path: &RelPath, is_filled: bool) {
        if is_filled {
            self.folded.insert(folded(path));
        }
        self.exact.insert(path.clone(), is_filled);
    }

    /// Returns whether a path is filled, if the changes affect it.
    pub(crate) fn is_filled(&self, path: &RelPath) -> Option<bool> {
        if self.folded.contains(&folded(path)) {
            return Some(true);
        }
        self.exact.get(path).copied()
    }
}

/// A path folded as on case-insensitive file systems, as far as git's names require.
pub(crate) fn folded(path: &RelPath) -> Vec<u8> {
    let names: Vec<_> = path.components().map(folded_name).collect();
    names.join(&b'/')
}

fn folded_name(name: &[u8]) -> Vec<u8> {
    if is_disguised(name) { fold_name(name).into_bytes() } else { name.to_ascii_lowercase() }
}
