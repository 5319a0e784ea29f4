//! Refuses to adopt effects of a command that would make git or an editor run something, later and outside of every
//! confinement.

use std::collections::BTreeSet;

use git_index::ObjectFormat;
use rel_path::{ProtectedName, ProtectedNames, RelPath};
use sandbox_fs::FileRoot;

use crate::adopt::build_folders::BuildFolders;
use crate::adopt::working_trees::WorkingTree;
use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{Refusal, in_git_folder, is_index};
use crate::git::linked_folders::content_on_disk;
use crate::git::repository_context::{RepositoryContext, format_after, format_on_disk};
use crate::git::repository_parts::{TouchedPaths, Transition};
use crate::git::version_control;
use crate::hidden::Hidden;

/// Sorts effects into those that are adopted and those that are refused.
pub(crate) struct Guard<'a> {
    pub protected: &'a ProtectedNames,
    pub hidden: &'a Hidden,
    /// Tells whether something was at a path before the command.
    pub was_there: &'a dyn Fn(&RelPath) -> bool,
    /// Tells whether something is now at a path that none of the effects is about: file tools may have put it there
    /// while the command ran.
    pub is_there_now: &'a dyn Fn(&RelPath) -> bool,
    /// The build folders that the command wrote to without anything that holds it back.
    pub written_through: &'a [RelPath],
    /// The workspace as it is now.
    pub root: &'a FileRoot,
}

/// Effects, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub allowed: Vec<Effect>,
    pub refused: Vec<(Effect, Refusal)>,
    /// Working trees that the allowed effects add, remove or move.
    pub working_trees: Vec<WorkingTree>,
}

impl Guard<'_> {
    /// Sorts all effects of one command.
    pub(crate) fn sort(&self, effects: Vec<Effect>) -> Sorted {
        let (mut before, mut after) = (TouchedPaths::default(), TouchedPaths::default());
        for effect in &effects {
            before.add(&effect.path, effect.before.is_some());
            after.add(&effect.path, effect.after.is_some());
        }
        let is_there = |path: &RelPath| after.is_filled(path).unwrap_or_else(|| (self.is_there_now)(path));
        let was_there = |path: &RelPath| before.is_filled(path).unwrap_or_else(|| (self.was_there)(path));
        let workspace = self.root.path();
        let is_unjudged = |path: &RelPath| {
            self.written_through.iter().any(|folder| path.starts_with(folder))
                || BuildFolders::new(self.root).surrounds(path)
        };
        // Nothing of what decides whether settings are refused depends on the object format. Files that lead to each other are
        // compared once the others are judged.
        let plain = RepositoryContext {
            workspace,
            was_there: &was_there,
            is_unjudged: &is_unjudged,
            format: &|_| ObjectFormat::default(),
            content: None,
        };
        let is_refused = |effect: &Effect| {
            in_git_folder(&effect.path).is_some_and(|part| part.refusal(effect, &plain).is_some())
        };
        let format = |settings: &RelPath| {
            let after = format_after(&effects, settings, &was_there, &is_refused);
            after.unwrap_or_else(|| format_on_disk(self.root, settings))
        };
        // Without a layer the folder has what is refused, too, until it is restored.
        let removed = removed_repositories(&effects, &plain, &is_there);
        // A repository that goes as a whole takes its settings and hooks with it.
        let stays_as_it_was = |effect: &Effect| {
            in_git_folder(&effect.path).is_some_and(|part| {
                removed.contains(&part.folder) || is_there(&part.folder) && is_refused(effect)
            })
        };
        let content = |path: &RelPath| match effects.iter().find(|effect| effect.path == *path) {
            Some(effect) if stays_as_it_was(effect) => effect.text_before().map(<[u8]>::to_vec),
            Some(effect) => effect.text_after().map(<[u8]>::to_vec),
            None => content_on_disk(self.root, path),
        };
        let context = RepositoryContext {
            workspace,
            was_there: &was_there,
            is_unjudged: &is_unjudged,
            format: &format,
            content: Some(&content),
        };
        let transition = Transition { is_there: &is_there, context: &context };
        let working_trees = WorkingTree::all(&effects, workspace);
        let mut sorted = Sorted { working_trees, ..Sorted::default() };
        let refusals: Vec<_> = effects
            .iter()
            .map(|effect| {
                self.listed(effect)
                    .or_else(|| {
                        let part = in_git_folder(&effect.path)?;
                        if removed.contains(&part.folder) {
                            return Some(Refusal::Removal);
                        }
                        // A repository that goes as a whole takes its settings and hooks with it.
                        if is_there(&part.folder) { part.refusal(effect, &context) } else { None }
                    })
                    .or_else(|| transition.refusal(effect))
            })
            .collect();
        for (effect, refusal) in effects.into_iter().zip(refusals) {
            match refusal {
                Some(refusal) => sorted.refused.push((effect, refusal)),
                None => sorted.allowed.push(effect),
            }
        }
        // In this order: each refuses effects because of those that the ones before have refused.
        sorted.keep_indexes_whole();
        sorted.keep_working_trees_whole();
        sorted.keep_folders_that_stay();
        sorted
    }

    /// Consults the list of protected names, and the paths where a symlink would get around it.
    fn listed(&self, effect: &Effect) -> Option<Refusal> {
        if self.hidden.hides(&effect.path) {
            return Some(Refusal::OwnState);
        }
        let is_judged_elsewhere = |name: &ProtectedName| {
            let is_git = name.pattern().eq_ignore_ascii_case(".git");
            is_git && in_git_folder(&effect.path).is_some()
                || version_control::is_its_own_matter(&effect.path, effect.kind_after())
        };
        if let Some(name) = self.protected.never(&effect.path)
            && !is_judged_elsewhere(name)
        {
            let (entry, reason) = (name.pattern().to_owned(), name.reason().to_owned());
            return Some(Refusal::Protected { entry, reason });
        }
        // A link at the beginning of a name on either list would put another folder in its place, in which no change is noticed.
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
        let begins = || {
            self.protected.found_at_or_beneath(&effect.path).is_some()
                || self.protected.names().map(ProtectedName::pattern).any(begins_entry)
        };
        (is_link && begins()).then_some(Refusal::Link)
    }
}

/// The `.git` folders of which the command has removed what makes them repositories: nothing in them is adopted. One
/// that is gone with the folder that it was the repository of is like any other folder that is gone.
fn removed_repositories(
    effects: &[Effect],
    context: &RepositoryContext<'_>,
    is_there: &dyn Fn(&RelPath) -> bool,
) -> BTreeSet<RelPath> {
    let is_removal = |effect: &&Effect| {
        in_git_folder(&effect.path)
            .is_some_and(|part| part.refusal(effect, context) == Some(Refusal::Removal))
    };
    let folders = effects.iter().filter(is_removal).filter_map(|effect| in_git_folder(&effect.path));
    let stays = |folder: &RelPath| {
        folder.parent().is_none_or(|around| around.is_root() || is_there(&around)) || is_there(folder)
    };
    folders.map(|part| part.folder).filter(stays).collect()
}

/// The last `count` names of a path.
fn ends_of(path: &RelPath, count: usize) -> Option<RelPath> {
    let names: Vec<_> = path.components().collect();
    RelPath::from_bytes(&names[names.len().checked_sub(count)?..].join(&b'/')).ok()
}

impl Sorted {
    /// Refuses all of an index of which a part is refused: git reads a split index together with the one that it shares,
    /// and the one before may need what the command removed.
    fn keep_indexes_whole(&mut self) {
        let folder = |effect: &Effect| effect.path.parent().filter(|_| is_index(&effect.path));
        let is_refused = |why: &Refusal| matches!(why, Refusal::Index(_) | Refusal::UnreadIndex);
        let folders: BTreeSet<RelPath> = self
            .refused
            .iter()
            .filter(|(_, why)| is_refused(why))
            .filter_map(|(effect, _)| folder(effect))
            .collect();
        if folders.is_empty() {
            return;
        }
        let (refused, allowed) = std::mem::take(&mut self.allowed)
            .into_iter()
            .partition(|effect| folder(effect).is_some_and(|folder| folders.contains(&folder)));
        self.allowed = allowed;
        self.refused.extend(refused.into_iter().map(|effect| (effect, Refusal::SplitIndex)));
        self.refused.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    }

    /// Refuses all of a working tree of which a needed part is refused. What other refusals take with them may be part
    /// of another one.
    fn keep_working_trees_whole(&mut self) {
        loop {
            let is_split =
                |tree: &WorkingTree| self.refused.iter().any(|(effect, _)| tree.needs(&effect.path));
            let Some(index) = self.working_trees.iter().position(is_split) else { return };
            let tree = self.working_trees.remove(index);
            let (refused, allowed) = std::mem::take(&mut self.allowed)
                .into_iter()
                .partition(|effect: &Effect| tree.contains(&effect.path));
            self.allowed = allowed;
            self.refused.extend(refused.into_iter().map(|effect| (effect, Refusal::WorkingTree)));
            // What goes goes before the folder that it is in.
            self.refused.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
        }
    }

    /// Keeps folders that cannot be removed, because something in them is not adopted, and refuses effects that would
    /// replace one.
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
