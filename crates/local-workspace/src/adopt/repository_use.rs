//! Repositories that another program uses concurrently with a command.

use std::collections::{BTreeMap, BTreeSet};

use cow_layer::{Layer, LayerChange, LayerChanges, Side};
use git_index::{ObjectFormat, REFERENCE_BYTES, has_same_entries};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};

use crate::git::guard::{INDEX_BYTES, in_git_folder, is_main_index};
use crate::git::rebases::branches_in_use::{BranchInUse, branches_in_use};

/// The files that git holds while it changes a repository.
pub(crate) const LOCKS: [&[u8]; 4] = [b"index.lock", b"HEAD.lock", b"config.lock", b"packed-refs.lock"];

/// The maximum number of indexes that are held open while a command runs.
const HELD_INDEXES: usize = 32;

/// The maximum number of folders searched for a repository before a command.
const LOOKED_AT: usize = 1_000;

/// Makes the layer hold the files that another program may replace without a relevant change: the indexes of the
/// workspace's repository, of its working trees and submodules, and of the repositories in its direct subfolders.
pub(crate) fn hold_indexes(layer: &mut Layer, root: &FileRoot) {
    let folders = |path: &RelPath| {
        let entries = root.list(path).unwrap_or_default().into_iter();
        entries.filter(|entry| entry.kind == FileKind::Folder).map(|entry| entry.path)
    };
    let around = std::iter::once(RelPath::default()).chain(folders(&RelPath::default()));
    let repositories = around.take(LOOKED_AT).filter_map(|folder| folder.child(b".git").ok());
    let is_there = |path: &RelPath| root.metadata(path).is_ok();
    let inner = |repository: RelPath| {
        let all = [b"worktrees".as_slice(), b"modules"].map(|name| repository.child(name).ok());
        let inner: Vec<_> = all.iter().flatten().filter(|all| is_there(all)).flat_map(folders).collect();
        std::iter::once(repository).chain(inner)
    };
    let indexes =
        repositories.filter(is_there).flat_map(inner).filter_map(|folder| folder.child(b"index").ok());
    for index in indexes.filter(is_there).take(HELD_INDEXES) {
        layer.hold(&index);
    }
}

/// Lets a command's index replace one that another program has written in the meantime, if that has the same entries as
/// when the command began, and no commit was made: `git status` rewrites the index when files have new times.
pub(crate) fn replace_refreshed_indexes(layer: &Layer, root: &FileRoot, changes: &mut LayerChanges) {
    let is_saved = |change: &&LayerChange| change.saved_meanwhile && is_main_index(&change.path);
    let saved: Vec<RelPath> = changes.iter().filter(is_saved).map(|change| change.path.clone()).collect();
    for path in saved {
        if has_same_commit(layer, root, &path) && !has_other_index(layer, root, &path) {
            changes.replace_saved(&path);
        }
    }
}

/// Returns whether a path is an index, and both contents have the same entries: `git status` rewrites it when files
/// have new times.
pub(crate) fn is_refreshed_index(path: &RelPath, then: &[u8], now: &[u8]) -> bool {
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    is_main_index(path) && formats.into_iter().any(|format| has_same_entries(then, now, format))
}

/// Returns whether the index of the workspace has other entries than when the command began, as far as that can be determined.
fn has_other_index(layer: &Layer, root: &FileRoot, path: &RelPath) -> bool {
    let present = root.open_file(path).and_then(|file| file.read_to_end(INDEX_BYTES)).ok();
    let both = layer.content_at_start(path, INDEX_BYTES).zip(present);
    !both.is_some_and(|(then, now)| is_refreshed_index(path, &then, &now))
}

/// Returns whether the checked-out commit of an index is certainly the same as at the start.
fn has_same_commit(layer: &Layer, root: &FileRoot, index: &RelPath) -> bool {
    let is_old = |path: &RelPath| match root.metadata(path) {
        Ok(metadata) => layer.began_after(metadata.stamp().status_changed_nanoseconds),
        Err(FsError::NotFound { .. }) => true,
        Err(_) => false,
    };
    checkout_files(root, index).is_some_and(|paths| paths.iter().all(is_old))
}

/// Returns the files of which git writes at least one when another commit is checked out in the working tree of an
/// index: `HEAD`, its log, and the branch, or the list with it. `None` if `HEAD` cannot be read.
pub(crate) fn checkout_files(root: &FileRoot, index: &RelPath) -> Option<Vec<RelPath>> {
    let tree = index.parent()?;
    // A working tree has the branches of the repository around it.
    let all = tree.parent().filter(|all| all.file_name() == Some(b"worktrees"));
    let repository = all.and_then(|all| all.parent()).unwrap_or_else(|| tree.clone());
    let child = |folder: &RelPath, name: &str| RelPath::parse(name).and_then(|name| folder.join(&name)).ok();
    let head = tree.child(b"HEAD").ok()?;
    let text = root.open_file(&head).and_then(|file| file.read_to_end(REFERENCE_BYTES)).ok()?;
    let text = String::from_utf8(text).ok()?;
    let is_there = |path: &RelPath| root.metadata(path).is_ok();
    let mut files = vec![head, child(&tree, "logs/HEAD")?];
    if let Some(name) = text.trim_end().strip_prefix("ref: ") {
        let branch = child(&repository, name)?;
        // Git writes the list for other branches as well, and each commit into a log that exists.
        if !is_there(&files[1]) && !is_there(&branch) {
            files.push(child(&repository, "packed-refs")?);
        }
        files.push(branch);
    }
    Some(files)
}

/// The changed repositories that another program uses.
#[derive(Debug, Default)]
pub(crate) struct RepositoriesInUse {
    /// Repositories in which it has changed a part, or is changing one now.
    pub(crate) folders: BTreeSet<RelPath>,
    /// The locks by which some of them are in use, by the repository.
    pub(crate) locks: BTreeMap<RelPath, RelPath>,
}

impl RepositoriesInUse {
    pub(crate) fn of(layer: &Layer, root: &FileRoot, changes: &LayerChanges) -> RepositoriesInUse {
        let (mut all, mut removing) = (BTreeSet::new(), BTreeSet::new());
        let mut in_use = RepositoriesInUse::default();
        for change in changes {
            let Some(part) = in_git_folder(&change.path) else { continue };
            if change.saved_meanwhile {
                in_use.folders.insert(part.folder.clone());
            }
            let was_file = matches!(change.before, Some(Side::File { .. }));
            if was_file && change.after.is_none() && part.is_object() {
                removing.insert(part.folder.clone());
            }
            all.insert(part.folder);
        }
        // The command itself has met a lock that existed before, and worked without the locked file. If it has removed
        // the lock, or changed that file all the same, git may still be at work there.
        let counts = |lock: &RelPath| {
            let Ok(metadata) = root.metadata(lock) else { return false };
            let is_new = !layer.began_after(metadata.stamp().status_changed_nanoseconds);
            let locked = lock.as_bytes().strip_suffix(b".lock").map(RelPath::from_bytes);
            let locked = locked.and_then(Result::ok);
            is_new
                || [Some(lock), locked.as_ref()]
                    .into_iter()
                    .flatten()
                    .any(|path| changes.find(path).is_some())
        };
        for folder in all {
            let removes_objects = removing.contains(&folder);
            let use_of = ReferenceUse { layer, root, changes, folder: &folder, removes_objects };
            if !in_use.folders.contains(&folder) && use_of.is_in_the_way() {
                in_use.folders.insert(folder.clone());
            }
            let mut locks = LOCKS.iter().filter_map(|name| folder.child(name).ok());
            if let Some(lock) = locks.find(counts) {
                in_use.folders.insert(folder.clone());
                in_use.locks.insert(folder, lock);
            }
        }
        in_use
    }
}

/// The maximum number of reference folders examined per repository. Each branch with a slash in its name may have one.
const REFERENCE_FOLDERS: usize = 4_096;

/// The references of a repository that a command changed, as another program uses them.
struct ReferenceUse<'a> {
    layer: &'a Layer,
    root: &'a FileRoot,
    changes: &'a LayerChanges,
    folder: &'a RelPath,
    /// True if the command removes objects of it.
    removes_objects: bool,
}

impl ReferenceUse<'_> {
    /// Returns whether another program now depends on something that the command moves or removes: it has checked out a
    /// branch that the command moves, or the command removes objects and a new reference or index may name one of them.
    fn is_in_the_way(&self) -> bool {
        let working_trees = self.working_trees();
        let mut heads = working_trees.iter().filter_map(|folder| folder.child(b"HEAD").ok());
        if heads.any(|head| self.is_newer(&head) && (self.moves_branch_of(&head) || self.removes_objects)) {
            return true;
        }
        let read = |path: &RelPath| {
            self.root.open_file(path).and_then(|file| file.read_to_end(REFERENCE_BYTES)).ok()
        };
        let is_moved =
            |branch: &BranchInUse| self.is_newer(&branch.file) && self.changes_branch(branch.name.as_bytes());
        if working_trees
            .iter()
            .flat_map(|folder| branches_in_use(folder, &read))
            .any(|branch| is_moved(&branch))
        {
            return true;
        }
        if !self.removes_objects {
            return false;
        }
        let mut indexes = working_trees.iter().filter_map(|folder| folder.child(b"index").ok());
        self.child(b"packed-refs").is_some_and(|list| self.is_newer(&list))
            || indexes.any(|index| self.is_newer(&index) && has_other_index(self.layer, self.root, &index))
            || working_trees.iter().any(|folder| self.has_newer_reference(folder))
    }

    /// Returns the folders that have a `HEAD`: the repository and its working trees.
    fn working_trees(&self) -> Vec<RelPath> {
        let all = self.child(b"worktrees").map(|all| self.root.list(&all).unwrap_or_default());
        let records = all.into_iter().flatten().map(|entry| entry.path);
        std::iter::once(self.folder.clone()).chain(records).collect()
    }

    /// Returns whether the command changes the branch that a `HEAD` now points to.
    fn moves_branch_of(&self, head: &RelPath) -> bool {
        let text = self.root.open_file(head).and_then(|file| file.read_to_end(REFERENCE_BYTES));
        let Ok(text) = text else { return false };
        text.strip_prefix(b"ref: ").is_some_and(|name| self.changes_branch(name.trim_ascii()))
    }

    fn changes_branch(&self, name: &[u8]) -> bool {
        let paths = [self.child(name), self.child(b"packed-refs")];
        paths.into_iter().flatten().any(|path| self.changes.find(&path).is_some())
    }

    /// Returns whether a reference was made or changed in the `refs` of a folder: git then makes a new file, which
    /// changes the folder around it.
    fn has_newer_reference(&self, folder: &RelPath) -> bool {
        let mut open: Vec<RelPath> = folder.child(b"refs").into_iter().collect();
        let mut looked_at = 0;
        while let Some(folder) = open.pop() {
            looked_at += 1;
            if self.is_newer(&folder) {
                return true;
            }
            if looked_at == REFERENCE_FOLDERS {
                return false;
            }
            let entries = self.root.list(&folder).unwrap_or_default().into_iter();
            open.extend(entries.filter(|entry| entry.kind == FileKind::Folder).map(|entry| entry.path));
        }
        false
    }

    fn is_newer(&self, path: &RelPath) -> bool {
        let metadata = self.root.metadata(path);
        metadata.is_ok_and(|metadata| !self.layer.began_after(metadata.stamp().status_changed_nanoseconds))
    }

    fn child(&self, names: &[u8]) -> Option<RelPath> {
        RelPath::from_bytes(names).and_then(|names| self.folder.join(&names)).ok()
    }
}
