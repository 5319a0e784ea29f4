//! Checked-out branches and running git processes when a repository is restored.
//!
//! Git compares a working tree and its index with the commit of the checked-out branch. If a branch moves, or is
//! removed, under a working tree that has checked it out since, the next commit reverts work. Every checkout writes
//! `HEAD` and its log: if a `HEAD` is older than the change, the tree had the branch checked out then, and returns to
//! that state.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use change_journal::{ChangeNumber, ChangeState, RecordedChange};
use git_index::REFERENCE_BYTES;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, Metadata};

use crate::adopt::repository_use::{LOCKS, checkout_files};
use crate::change::present::Present;
use crate::git::guard::{INDEX_BYTES, in_git_folder, is_main_index};
use crate::git::rebases::branches_in_use::{BranchInUse, branches_in_use};
use crate::git::stored_names::store_around;
use crate::undo::error::{ObstacleKind, UndoObstacle};
use crate::undo::moved_checkouts::has_objects;
use crate::undo::path::{Side, UndoPath, is_at, is_same, obstacle};
use crate::undo::plan::{UndoContext, UndoPlan};

impl UndoPlan {
    /// Adds an obstacle for each branch that would move, or be removed, under a working tree that has checked it out
    /// since, and for each that would be checked out twice.
    pub(super) fn check_branches(&self, context: &UndoContext<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let planned: BTreeMap<&RelPath, &UndoPath> =
            self.paths.iter().map(|path| (&path.path, path)).collect();
        let has_head = |folder: &RelPath| {
            let head = folder.child(b"HEAD").ok();
            head.is_some_and(|head| planned.contains_key(&head) || context.root.metadata(&head).is_ok())
        };
        let repository = |path: &UndoPath| repository_of_reference(context.root, &path.path, has_head);
        let repositories: BTreeSet<RelPath> = self.paths.iter().filter_map(repository).collect();
        for folder in &repositories {
            let repository = Repository { context, planned: &planned, folder };
            repository.check_branches(obstacles);
            repository.check_returning(obstacles);
        }
    }

    /// Adds an obstacle for each index that would be restored although another commit was checked out since: git would
    /// take its differences from that commit for staged work, and the next commit would revert the user's.
    pub(super) fn check_indexes(&self, context: &UndoContext<'_>, obstacles: &mut Vec<UndoObstacle>) {
        let planned: BTreeSet<&RelPath> = self.paths.iter().map(|path| &path.path).collect();
        let indexes = self.paths.iter().filter(|path| {
            is_main_index(&path.path) && !is_at(context, &path.path, path.now.as_ref(), path.wanted)
        });
        for index in indexes {
            let earliest = index.back.iter().filter_map(|step| step.undoes).min();
            let is_used = |file: &RelPath| {
                !planned.contains(file)
                    && earliest.is_some_and(|change| is_written_since(context, file, change))
            };
            let files = checkout_files(context.root, &index.path);
            if files.is_some_and(|files| files.iter().any(is_used)) {
                obstacles.push(obstacle(&index.path, ObstacleKind::ChangedSince));
            }
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

/// Returns the repository of a path that is a reference, a list of references, or a `HEAD`. `has_head` returns whether a
/// folder has a `HEAD`.
fn repository_of_reference(
    root: &FileRoot,
    path: &RelPath,
    has_head: impl Fn(&RelPath) -> bool,
) -> Option<RelPath> {
    let names: Vec<&[u8]> = path.components().collect();
    // Folders around a repository may have any name.
    let first = in_git_folder(path).map_or(0, |part| names.len() - part.names.len());
    let folder = |end: usize| RelPath::from_bytes(&names[..end].join(&b'/')).ok();
    let references: Vec<RelPath> = (first..names.len())
        .filter(|at| names[*at] == b"refs" && names[first..*at].last() != Some(&&b"logs"[..]))
        .filter_map(folder)
        .collect();
    if let Some(repository) = references.iter().find(|folder| has_head(folder)) {
        return Some(repository.clone());
    }
    match &names[first..] {
        [folders @ .., b"worktrees", _, b"HEAD"] => folder(first + folders.len()),
        [folders @ .., b"HEAD" | b"packed-refs"] => {
            let repository = folder(first + folders.len())?;
            // A submodule may have the name of the folder of logs.
            let is_log = folders.last() == Some(&&b"logs"[..]) && !has_objects(root, &repository);
            (!is_log).then_some(repository)
        }
        _ => references.into_iter().next(),
    }
}

/// A repository whose references an undo changes.
struct Repository<'a> {
    context: &'a UndoContext<'a>,
    planned: &'a BTreeMap<&'a RelPath, &'a UndoPath>,
    folder: &'a RelPath,
}

impl Repository<'_> {
    fn check_branches(&self, obstacles: &mut Vec<UndoObstacle>) {
        let heads: Vec<(RelPath, RelPath)> = self
            .heads()
            .into_iter()
            .filter_map(|head| branch(&self.after(&head, REFERENCE_BYTES)?).map(|name| (head, name)))
            .collect();
        let read = |path: &RelPath| self.after(path, REFERENCE_BYTES);
        let trees = self.heads().into_iter().filter_map(|head| head.parent());
        let in_use: Vec<BranchInUse> = trees.flat_map(|tree| branches_in_use(&tree, &read)).collect();
        let names = heads.iter().map(|(_, name)| name).chain(in_use.iter().map(|branch| &branch.name));
        let moved = self.moved(names.collect());
        let staying: BTreeSet<&RelPath> =
            heads.iter().filter(|(head, _)| !self.planned.contains_key(head)).map(|(_, name)| name).collect();
        let mut add = |name: &RelPath| {
            let reference = self.folder.join(name).unwrap_or_else(|_| name.clone());
            obstacles.push(obstacle(&reference, ObstacleKind::CheckedOut));
        };
        for (head, name) in &heads {
            if moved.contains(name) && !self.was_checked_out(head, name) {
                add(name);
            }
        }
        for branch in &in_use {
            if moved.contains(&branch.name) && !self.planned.contains_key(&branch.file) {
                add(&branch.name);
            }
        }
        for (head, name) in &heads {
            if self.planned.contains_key(head) && staying.contains(name) {
                obstacles.push(obstacle(head, ObstacleKind::CheckedOutElsewhere));
            }
        }
    }

    /// Returns whether a checked-out branch was already checked out when it was moved: the undo restores the `HEAD`, or
    /// its log, which every checkout writes to, or there was no checkout since.
    fn was_checked_out(&self, head: &RelPath, name: &RelPath) -> bool {
        let is_planned = |path: Option<RelPath>| path.is_some_and(|path| self.planned.contains_key(&path));
        self.planned.contains_key(head)
            || is_planned(sibling(head, b"logs/HEAD"))
            || !self.is_newer(head, name)
    }

    /// Returns whether a `HEAD` was written since a reverted change of a branch was recorded.
    fn is_newer(&self, head: &RelPath, name: &RelPath) -> bool {
        let Ok(metadata) = self.context.root.metadata(head) else { return true };
        let paths = [self.folder.join(name).ok(), self.folder.child(b"packed-refs").ok()];
        let planned = paths.iter().flatten().filter_map(|path| self.planned.get(path));
        let changes = planned.flat_map(|path| &path.back).filter_map(|step| step.undoes);
        let recorded = changes.filter_map(|number| self.context.journal.change(number).ok().flatten());
        let earliest = recorded.map(|change| change.recorded_at).min();
        earliest.is_none_or(|time| is_after(&metadata, time))
    }

    /// Adds an obstacle for each reference that would be restored, or is gone, over one that git has packed since.
    fn check_returning(&self, obstacles: &mut Vec<UndoObstacle>) {
        let Some(list) =
            self.folder.child(b"packed-refs").ok().filter(|list| !self.planned.contains_key(list))
        else {
            return;
        };
        let Ok(references) = self.folder.child(b"refs") else { return };
        let returning: BTreeMap<RelPath, &UndoPath> = self
            .planned
            .values()
            .filter(|path| path.now.is_none() && path.path.starts_with(&references))
            .filter_map(|path| {
                let bytes = path.path.as_bytes();
                let name =
                    if self.folder.is_root() { bytes } else { &bytes[self.folder.as_bytes().len() + 1..] };
                Some((RelPath::from_bytes(name).ok()?, *path))
            })
            .collect();
        if returning.is_empty() {
            return;
        }
        let packed = self.read(&list, INDEX_BYTES).unwrap_or_default();
        for (name, value) in packed_values(&packed, &returning.keys().collect()) {
            let path = returning[name];
            let wanted = self.after(&path.path, REFERENCE_BYTES);
            if Some(value) != wanted.as_deref().map(<[u8]>::trim_ascii) {
                obstacles.push(obstacle(&path.path, ObstacleKind::ChangedSince));
            }
        }
    }

    /// Returns the `HEAD` files of the working trees. A repository without an index has no working tree itself.
    fn heads(&self) -> Vec<RelPath> {
        let own = self.folder.child(b"HEAD").ok();
        let has_tree =
            self.folder.child(b"index").is_ok_and(|index| self.context.root.metadata(&index).is_ok());
        let trees =
            self.folder.child(b"worktrees").ok().and_then(|folder| self.context.root.list(&folder).ok());
        let linked = trees.into_iter().flatten().filter_map(|tree| tree.path.child(b"HEAD").ok());
        own.filter(|_| has_tree).into_iter().chain(linked).collect()
    }

    /// Returns those of some references whose value the undo changes, wherever they are stored. Each list is read once.
    fn moved<'a>(&self, names: BTreeSet<&'a RelPath>) -> BTreeSet<&'a RelPath> {
        let Ok(list) = self.folder.child(b"packed-refs") else { return names };
        let is_planned = |path: &RelPath| self.planned.contains_key(path);
        let single = |name: &RelPath| self.folder.join(name).ok();
        let mut names = names;
        names.retain(|name| is_planned(&list) || single(name).is_none_or(|path| is_planned(&path)));
        if names.is_empty() {
            return names;
        }
        let [now, after] =
            [self.read(&list, INDEX_BYTES), self.after(&list, INDEX_BYTES)].map(Option::unwrap_or_default);
        let (now, after) = (packed_values(&now, &names), packed_values(&after, &names));
        let value = |single: Option<Vec<u8>>, packed: Option<&&[u8]>| match single {
            Some(text) => Some(text.trim_ascii().to_vec()),
            None => packed.map(|value| value.to_vec()),
        };
        let moves = |name: &RelPath| {
            let Some(single) = single(name) else { return true };
            let before = value(self.read(&single, REFERENCE_BYTES), now.get(name));
            before != value(self.after(&single, REFERENCE_BYTES), after.get(name))
        };
        names.iter().copied().filter(|name| moves(name)).collect()
    }

    /// Returns the future content of a file; `None` if an unchanged file has more than `limit` bytes.
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

/// Returns whether a file was written after a time.
fn is_after(metadata: &Metadata, time: SystemTime) -> bool {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok();
    since.is_none_or(|since| {
        let nanoseconds = i128::try_from(since.as_nanos()).unwrap_or(i128::MAX);
        metadata.stamp().status_changed_nanoseconds > nanoseconds
    })
}

/// Returns whether a file was written since a change was recorded, other than by changes of ours that were undone again.
pub(super) fn is_written_since(context: &UndoContext<'_>, file: &RelPath, number: ChangeNumber) -> bool {
    let Ok(metadata) = context.root.metadata(file) else { return false };
    let recorded = context.journal.change(number).ok().flatten();
    if recorded.is_some_and(|change| !is_after(&metadata, change.recorded_at)) {
        return false;
    }
    let changes = context.journal.changes_of_path(file.as_bytes(), u32::MAX).unwrap_or_default();
    let is_later =
        |change: &&RecordedChange| change.number > number && change.state != ChangeState::Conflicted;
    let then = changes.iter().rev().find(is_later).map(|change| change.before.as_ref().map(Side::from));
    let now = Present::of_any_kind(context.root, file).ok().flatten();
    then.is_none_or(|then| !is_same(now.as_ref().map(Side::from), then))
}

/// Returns the branch that a `HEAD` names, from `refs` on.
fn branch(head: &[u8]) -> Option<RelPath> {
    RelPath::from_bytes(head.strip_prefix(b"ref:")?.trim_ascii()).ok()
}

/// Returns another path in the folder of a file.
fn sibling(file: &RelPath, path: &[u8]) -> Option<RelPath> {
    file.parent()?.join(&RelPath::from_bytes(path).ok()?).ok()
}

/// Returns the values of some references in a `packed-refs`, in one pass over its lines.
fn packed_values<'list, 'name>(
    list: &'list [u8],
    names: &BTreeSet<&'name RelPath>,
) -> BTreeMap<&'name RelPath, &'list [u8]> {
    let by_bytes: BTreeMap<&[u8], &'name RelPath> =
        names.iter().map(|name| (name.as_bytes(), *name)).collect();
    let mut values = BTreeMap::new();
    for line in list.split(|byte| *byte == b'\n') {
        let Some(space) = line.iter().position(|byte| *byte == b' ') else { continue };
        if let Some(name) = by_bytes.get(&line[space + 1..]) {
            values.entry(*name).or_insert(&line[..space]);
        }
    }
    values
}
