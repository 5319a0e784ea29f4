//! Branches that are checked out, and git at work, when a repository is restored.
//!
//! Git compares a working tree and its index with the commit of the checked-out branch. Where a branch moves without its index, or goes,
//! the next commit takes work back. A command that moves the branch that it has checked out changes the index as well, or at least the
//! log of `HEAD`; where an undo restores none of these, the branch was checked out since.

use std::collections::{BTreeMap, BTreeSet};

use git_index::REFERENCE_BYTES;
use rel_path::RelPath;

use crate::adopt::repository_use::LOCKS;
use crate::git::guard::{INDEX_BYTES, in_git_folder};
use crate::git::stored_names::store_around;
use crate::undo::error::{ObstacleKind, UndoObstacle};
use crate::undo::path::{UndoPath, obstacle};
use crate::undo::plan::{UndoContext, UndoPlan};

impl UndoPlan {
    /// Adds an obstacle for each branch that would move, or go, without the index of the working tree in which it is checked out, and for
    /// each that would be checked out twice.
    pub(super) fn check_branches(&self, context: &UndoContext<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let planned: BTreeMap<&RelPath, &UndoPath> =
            self.paths.iter().map(|path| (&path.path, path)).collect();
        let repositories: BTreeSet<RelPath> =
            self.paths.iter().filter_map(|path| repository_of_reference(&path.path)).collect();
        for folder in &repositories {
            let repository = Repository { context, planned: &planned, folder };
            repository.check_branches(obstacles);
            repository.check_returning(obstacles);
        }
    }

    /// Adds an obstacle for each file that git holds while it changes a repository of the plan.
    pub(super) fn check_locks(&self, context: &UndoContext<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let mut locks: BTreeSet<RelPath> = BTreeSet::new();
        for path in &self.paths {
            let Some(part) = in_git_folder(&path.path).filter(|_| store_around(&path.path).is_none()) else {
                continue;
            };
            locks.extend(LOCKS.iter().filter_map(|name| part.folder.child(name).ok()));
            locks.extend(RelPath::from_bytes(&[path.path.as_bytes(), b".lock"].concat()));
        }
        for path in &self.paths {
            locks.remove(&path.path);
        }
        let held = locks.iter().filter(|lock| context.root.metadata(lock).is_ok());
        obstacles.extend(held.map(|lock| obstacle(lock, ObstacleKind::Locked)));
    }
}

/// Returns the repository that a path belongs to as a reference, a list of them, or as what is checked out.
fn repository_of_reference(path: &RelPath) -> Option<RelPath> {
    let names: Vec<&[u8]> = path.components().collect();
    let in_refs = names
        .iter()
        .position(|name| *name == b"refs")
        .filter(|at| names[..*at].last() != Some(&&b"logs"[..]));
    let end = match (in_refs, names.as_slice()) {
        (Some(at), _) => at,
        (None, [folder @ .., b"worktrees", _, b"HEAD"]) => folder.len(),
        (None, [folder @ .., b"HEAD" | b"packed-refs"]) if folder.last() != Some(&&b"logs"[..]) => {
            folder.len()
        }
        _ => return None,
    };
    RelPath::from_bytes(&names[..end].join(&b'/')).ok()
}

/// A repository of which an undo changes references.
struct Repository<'a> {
    context: &'a UndoContext<'a>,
    planned: &'a BTreeMap<&'a RelPath, &'a UndoPath>,
    folder: &'a RelPath,
}

impl Repository<'_> {
    fn check_branches(&self, obstacles: &mut Vec<UndoObstacle>) {
        let heads = self.heads();
        let checked_out = |head: &RelPath| branch(&self.after(head, REFERENCE_BYTES)?);
        for head in &heads {
            let Some(name) = checked_out(head) else { continue };
            let is_with_index = [Some(head.clone()), beside(head, b"index"), beside(head, b"logs/HEAD")]
                .iter()
                .flatten()
                .any(|path| self.planned.contains_key(path));
            if !is_with_index && self.moves(&name) {
                let reference = self.folder.join(&name).unwrap_or_else(|_| head.clone());
                obstacles.push(obstacle(&reference, ObstacleKind::CheckedOut));
            }
            let is_elsewhere = |other: &RelPath| {
                !self.planned.contains_key(other) && checked_out(other).as_ref() == Some(&name)
            };
            if self.planned.contains_key(head) && heads.iter().any(is_elsewhere) {
                obstacles.push(obstacle(head, ObstacleKind::CheckedOutElsewhere));
            }
        }
    }

    /// Adds an obstacle for each reference that would come back in front of one that git has packed since.
    fn check_returning(&self, obstacles: &mut Vec<UndoObstacle>) {
        let Some(list) =
            self.folder.child(b"packed-refs").ok().filter(|list| !self.planned.contains_key(list))
        else {
            return;
        };
        let inside = |path: &&UndoPath| {
            path.path.starts_with(self.folder) && path.now.is_none() && path.wanted.is_some()
        };
        let returning: Vec<_> = self.planned.values().copied().filter(inside).collect();
        if returning.is_empty() {
            return;
        }
        let packed = self.read(&list, INDEX_BYTES).unwrap_or_default();
        for path in returning {
            let name = path.path.as_bytes().get(self.folder.as_bytes().len() + 1..).unwrap_or_default();
            let value = packed_value(&packed, name);
            if value.is_some()
                && value != self.after(&path.path, REFERENCE_BYTES).map(|text| text.trim_ascii().to_vec())
            {
                obstacles.push(obstacle(&path.path, ObstacleKind::ChangedSince));
            }
        }
    }

    /// Returns the files that say what is checked out in the working trees. A repository without an index has none of its own.
    fn heads(&self) -> Vec<RelPath> {
        let own = self.folder.child(b"HEAD").ok();
        let has_tree =
            self.folder.child(b"index").is_ok_and(|index| self.context.root.metadata(&index).is_ok());
        let trees =
            self.folder.child(b"worktrees").ok().and_then(|folder| self.context.root.list(&folder).ok());
        let linked = trees.into_iter().flatten().filter_map(|tree| tree.path.child(b"HEAD").ok());
        own.filter(|_| has_tree).into_iter().chain(linked).collect()
    }

    /// Checks whether the undo gives a reference another value, wherever it is kept.
    fn moves(&self, name: &RelPath) -> bool {
        let (Ok(single), Ok(list)) = (self.folder.join(name), self.folder.child(b"packed-refs")) else {
            return true;
        };
        if !self.planned.contains_key(&single) && !self.planned.contains_key(&list) {
            return false;
        }
        let value = |single: Option<Vec<u8>>, list: &dyn Fn() -> Option<Vec<u8>>| {
            let single = single.map(|text| text.trim_ascii().to_vec());
            single.or_else(|| packed_value(&list()?, name.as_bytes()))
        };
        let now = value(self.read(&single, REFERENCE_BYTES), &|| self.read(&list, INDEX_BYTES));
        now != value(self.after(&single, REFERENCE_BYTES), &|| self.after(&list, INDEX_BYTES))
    }

    /// Returns the content that a file will have; `None` if one that stays has more than `limit` bytes.
    fn after(&self, path: &RelPath, limit: u64) -> Option<Vec<u8>> {
        match self.planned.get(path) {
            Some(planned) => self.context.journal.content(&planned.wanted?.content?).ok().flatten(),
            None => self.read(path, limit),
        }
    }

    fn read(&self, path: &RelPath, limit: u64) -> Option<Vec<u8>> {
        self.context.root.open_file(path).ok()?.read_to_end(limit).ok()
    }
}

/// Returns the branch that a `HEAD` names, from `refs` on.
fn branch(head: &[u8]) -> Option<RelPath> {
    RelPath::from_bytes(head.strip_prefix(b"ref:")?.trim_ascii()).ok()
}

/// Returns another path in the folder of a file.
fn beside(file: &RelPath, path: &[u8]) -> Option<RelPath> {
    file.parent()?.join(&RelPath::from_bytes(path).ok()?).ok()
}

/// Returns the value of a reference in a `packed-refs`.
fn packed_value(list: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let line =
        list.split(|byte| *byte == b'\n').find_map(|line| line.strip_suffix(name)?.strip_suffix(b" "))?;
    Some(line.trim_ascii().to_vec())
}
