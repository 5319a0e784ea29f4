//! Repositories in which others have worked since: an undo removes neither essential parts nor objects that later work
//! may need.
//!
//! Finding the needed objects would require reading every reference, index and log of a repository and of its working
//! trees. So objects that a command has stored stay. Git eventually removes unreachable ones.

use std::collections::{BTreeMap, BTreeSet};

use rel_path::RelPath;

use crate::adopt::adoption::linked_repositories;
use crate::git::guard::in_git_folder;
use crate::git::repository_parts::is_repository;
use crate::git::stored_names::store_around;
use crate::undo::error::UndoObstacle;
use crate::undo::path::{UndoPath, obstacle};
use crate::undo::plan::{UndoContext, UndoPlan, effect};

impl UndoPlan {
    /// Adds an obstacle for each repository that would be removed although it contains an entry that no undone change
    /// has left: without its other parts it would not be a repository.
    pub(super) fn keep_used_repositories(
        &self,
        context: &UndoContext<'_>,
        obstacles: &mut Vec<UndoObstacle>,
    ) {
        let is_there = |path: &RelPath| context.root.metadata(path).is_ok();
        let kept: BTreeSet<&RelPath> = self.kept_folders.iter().collect();
        let heads = self.paths.iter().filter(|path| path.wanted.is_none() && path.now.is_some());
        let heads = heads.filter(|path| path.path.file_name() == Some(b"HEAD"));
        for folder in heads.filter_map(|head| head.path.parent()) {
            let parts = [b"objects".as_slice(), b"refs"].map(|name| folder.child(name).ok());
            let is_used = kept.contains(&folder) || parts.iter().flatten().any(|part| kept.contains(part));
            // Any other folder may have a file of this name.
            if is_used && is_repository(&folder, &is_there) {
                obstacles.push(obstacle(&folder, context.difference(&folder)));
            }
        }
    }

    /// Returns the folders that are, or were, working trees of some repositories by a file that would be removed or
    /// restored. In a folder that loses its files or that file, git would consider its files removed, or obey the
    /// repository around it.
    pub(super) fn working_trees_of(
        &self,
        context: &UndoContext<'_>,
        repositories: &BTreeMap<RelPath, bool>,
    ) -> BTreeMap<RelPath, bool> {
        let is_link = |path: &&UndoPath| in_git_folder(&path.path).is_some_and(|part| part.names.is_empty());
        let tree = |path: &UndoPath| {
            let linked = linked_repositories(&effect(context, path), context.workspace);
            let is_later = linked.iter().find_map(|folder| repositories.get(folder))?;
            Some((path.path.parent().filter(|tree| !tree.is_root())?, *is_later))
        };
        self.paths.iter().filter(is_link).filter_map(tree).collect()
    }

    /// Skips the removal of stored objects whose repository stays, and of their folders.
    pub(super) fn keep_objects(&mut self, context: &UndoContext<'_>) {
        let going: BTreeSet<RelPath> = self
            .paths
            .iter()
            .filter(|path| path.is_folder_that_goes())
            .map(|path| path.path.clone())
            .collect();
        let mut stores: BTreeSet<RelPath> = BTreeSet::new();
        let mut stay: BTreeSet<RelPath> = BTreeSet::new();
        for path in self.paths.iter().filter(|path| path.wanted.is_none() && path.now.is_some()) {
            let Some(store) = store_around(&path.path) else { continue };
            let Some(repository) = store.parent().filter(|repository| !going.contains(repository)) else {
                continue;
            };
            let is_store = stores.contains(&store)
                || in_git_folder(&path.path).is_some()
                || is_repository(&repository, &|path| context.root.metadata(path).is_ok());
            if is_store {
                let folders = std::iter::successors(path.path.parent(), RelPath::parent);
                stay.extend(folders.take_while(|folder| *folder != repository));
                stay.insert(path.path.clone());
                stores.insert(store);
            }
        }
        self.paths.retain(|path| !stay.contains(&path.path) || path.wanted.is_some());
        // Such kept folders are not worth reporting.
        self.kept_folders.retain(|folder| {
            let mut around = std::iter::successors(Some(folder.clone()), RelPath::parent);
            !around.any(|folder| stores.contains(&folder))
        });
    }
}
