//! Working trees that a command adds, removes or moves: adopted as a whole or not at all.
//!
//! A working tree of `git worktree` is a folder with a `.git` file, and a folder `worktrees/NAME` in the repository that
//! leads back to it. With one of them alone git finds nothing, or something else.

use std::collections::BTreeSet;
use std::path::Path;

use rel_path::RelPath;

use crate::command::effect::Effect;
use crate::git::guard::in_git_folder;
use crate::git::linked_folders::working_tree;

/// A working tree that effects add, remove or move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WorkingTree {
    /// The folder `worktrees/NAME` of the repository.
    record: RelPath,
    /// The folders that `gitdir` led to before and leads to now.
    folders: Vec<RelPath>,
}

impl WorkingTree {
    /// Finds those that effects add, remove or move: the ones whose `gitdir` changes.
    pub(crate) fn all(effects: &[Effect], workspace: Option<&Path>) -> Vec<WorkingTree> {
        effects.iter().filter_map(|effect| WorkingTree::of(effect, workspace)).collect()
    }

    fn of(effect: &Effect, workspace: Option<&Path>) -> Option<WorkingTree> {
        let record = effect.path.parent().filter(|_| effect.path.file_name() == Some(b"gitdir"))?;
        if record.parent()?.file_name() != Some(b"worktrees") {
            return None;
        }
        let texts = [effect.text_before(), effect.text_after()];
        let folders =
            texts.into_iter().flatten().filter_map(|text| working_tree(&effect.path, text, workspace));
        Some(WorkingTree { folders: folders.collect(), record })
    }

    /// Returns whether a path belongs to it.
    pub(crate) fn contains(&self, path: &RelPath) -> bool {
        path.starts_with(&self.record) || self.folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Checks whether it cannot be adopted without this path.
    pub(crate) fn needs(&self, path: &RelPath) -> bool {
        let is_link = |folder: &RelPath| folder.child(b".git").is_ok_and(|link| link == *path);
        path.starts_with(&self.record) || self.folders.iter().any(is_link)
    }

    /// Returns whether it is a working tree of one of these repositories, or has one of them as its own `.git`.
    pub(crate) fn is_of(&self, repositories: &BTreeSet<RelPath>) -> bool {
        let of_record = in_git_folder(&self.record).map(|part| part.folder);
        let links = self.folders.iter().filter_map(|folder| folder.child(b".git").ok());
        of_record.into_iter().chain(links).any(|folder| repositories.contains(&folder))
    }
}
