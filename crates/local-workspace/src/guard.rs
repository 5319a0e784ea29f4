//! What of a command's effects is not taken over: whatever would make git or an editor run something, later and outside
//! of every confinement.

use std::collections::{BTreeMap, BTreeSet};

use rel_path::{ProtectedNames, RelPath};

use crate::effect::Effect;
use crate::git_guard::{InRepository, Refusal, in_git_folder};
use crate::hidden::Hidden;
use crate::present::PresentKind;

/// Names by which git knows a folder as a repository.
const MARKS: [&[u8]; 4] = [b"HEAD", b"commondir", b"objects", b"refs"];

/// Names in a repository's folder that decide what git runs or where it looks.
const OBEYED: [&[u8]; 4] = [b"HEAD", b"commondir", b"config", b"config.worktree"];

/// What sorts effects.
pub(crate) struct Guard<'a> {
    pub protected: &'a ProtectedNames,
    pub hidden: &'a Hidden,
    /// Tells whether something was at a path before the command.
    pub was_there: &'a dyn Fn(&RelPath) -> bool,
}

/// Effects, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub allowed: Vec<Effect>,
    pub refused: Vec<(Effect, Refusal)>,
}

impl Guard<'_> {
    /// Sorts all effects of one command.
    pub(crate) fn sort(&self, effects: Vec<Effect>) -> Sorted {
        let after: BTreeMap<RelPath, bool> =
            effects.iter().map(|effect| (effect.path.clone(), effect.after.is_some())).collect();
        let before: BTreeMap<RelPath, bool> =
            effects.iter().map(|effect| (effect.path.clone(), effect.before.is_some())).collect();
        let is_there = |path: &RelPath| after.get(path).copied().unwrap_or_else(|| (self.was_there)(path));
        let was_there = |path: &RelPath| before.get(path).copied().unwrap_or_else(|| (self.was_there)(path));
        let removed = self.removed_repositories(&effects, &is_there);
        let mut sorted = Sorted::default();
        for effect in effects {
            let refusal = self
                .listed(&effect)
                .or_else(|| {
                    let place = in_git_folder(&effect.path)?;
                    if removed.contains(&place.folder) {
                        return Some(Refusal::Removal);
                    }
                    // A repository that goes as a whole takes its settings and hooks with it.
                    if is_there(&place.folder) { place.refusal(&effect) } else { None }
                })
                .or_else(|| in_bare_repository(&effect, &was_there, &is_there));
            match refusal {
                Some(refusal) => sorted.refused.push((effect, refusal)),
                None => sorted.allowed.push(effect),
            }
        }
        sorted.keep_folders_that_stay();
        sorted
    }

    /// The `.git` folders of which the command has removed what makes them repositories: nothing in them is taken over.
    /// One that is gone with the folder that it was the repository of is like any other folder that is gone.
    fn removed_repositories(
        &self,
        effects: &[Effect],
        is_there: &dyn Fn(&RelPath) -> bool,
    ) -> BTreeSet<RelPath> {
        let is_removal = |effect: &&Effect| {
            in_git_folder(&effect.path).is_some_and(|place| place.refusal(effect) == Some(Refusal::Removal))
        };
        let folders = effects.iter().filter(is_removal).filter_map(|effect| in_git_folder(&effect.path));
        let stays = |folder: &RelPath| {
            folder.parent().is_none_or(|around| around.is_root() || is_there(&around)) || is_there(folder)
        };
        folders.map(|place| place.folder).filter(stays).collect()
    }

    /// What the list of protected names says, and the places where a link would get around it.
    fn listed(&self, effect: &Effect) -> Option<Refusal> {
        if self.hidden.hides(&effect.path) {
            return Some(Refusal::OwnState);
        }
        if let Some(entry) = self.protected.protected_by(&effect.path)
            && !in_git_folder(&effect.path).is_some_and(|_| entry.eq_ignore_ascii_case(".git"))
        {
            return Some(Refusal::Protected(entry.to_owned()));
        }
        // A link at the beginning of a protected name would put another folder in its place.
        let is_link = effect.kind_after() == Some(PresentKind::Other);
        let begins_entry = |entry: &str| {
            let mut beginning = String::new();
            let names: Vec<_> = entry.split('/').filter(|name| !name.is_empty()).collect();
            names.iter().take(names.len().saturating_sub(1)).any(|name| {
                if !beginning.is_empty() {
                    beginning.push('/');
                }
                beginning.push_str(name);
                let path = ends_of(&effect.path, beginning.split('/').count());
                path.is_some_and(|path| ProtectedNames::new([&beginning]).protects(&path))
            })
        };
        (is_link && self.protected.entries().any(begins_entry)).then_some(Refusal::Link)
    }
}

/// The last `count` names of a path.
fn ends_of(path: &RelPath, count: usize) -> Option<RelPath> {
    let names: Vec<_> = path.components().collect();
    RelPath::from_bytes(&names[names.len().checked_sub(count)?..].join(&b'/')).ok()
}

/// Tells whether an effect makes a folder a repository without a `.git`, or changes what git obeys in one that was.
fn in_bare_repository(
    effect: &Effect,
    was_there: &dyn Fn(&RelPath) -> bool,
    is_there: &dyn Fn(&RelPath) -> bool,
) -> Option<Refusal> {
    if in_git_folder(&effect.path).is_some() {
        return None;
    }
    let names: Vec<_> = effect.path.components().collect();
    let is_one_of = |name: &[u8], list: &[&[u8]]| list.iter().any(|one| name.eq_ignore_ascii_case(one));
    for (index, name) in names.iter().enumerate() {
        let is_last = index + 1 == names.len();
        let is_obeyed = is_last && is_one_of(name, &OBEYED)
            || is_one_of(name, &[b"hooks", b"objects", b"refs"])
            || is_one_of(name, &[b"info"])
                && names.last().is_some_and(|last| is_one_of(last, &[b"attributes"]));
        if !is_obeyed {
            continue;
        }
        let folder = RelPath::from_bytes(&names[..index].join(&b'/')).unwrap_or_default();
        if is_repository(&folder, was_there) {
            let place = InRepository { folder, names: names[index..].to_vec() };
            if let Some(refusal) = place.refusal(effect) {
                return Some(refusal);
            }
        } else if effect.after.is_some() && is_repository(&folder, is_there) {
            // Any part of it may be the one that was missing.
            return Some(Refusal::BareRepository(folder));
        }
    }
    None
}

/// Whether git would take a folder for a repository.
fn is_repository(folder: &RelPath, is_there: &dyn Fn(&RelPath) -> bool) -> bool {
    let has = |name: &[u8]| folder.child(name).is_ok_and(|path| is_there(&path));
    has(MARKS[0]) && (has(MARKS[1]) || has(MARKS[2]) && has(MARKS[3]))
}

impl Sorted {
    /// Folders whose removal cannot be, because something in them is not taken over, stay as well; and what would have
    /// come into the place of one goes the way of the others.
    fn keep_folders_that_stay(&mut self) {
        let staying: BTreeSet<RelPath> = self
            .refused
            .iter()
            .filter(|(effect, _)| effect.before.is_some())
            .flat_map(|(effect, _)| std::iter::successors(effect.path.parent(), RelPath::parent))
            .collect();
        let is_possible = |effect: &Effect| {
            effect.kind_before() != Some(PresentKind::Folder)
                || effect.kind_after() == Some(PresentKind::Folder)
                || !staying.contains(&effect.path)
        };
        self.allowed.retain(is_possible);
    }
}
