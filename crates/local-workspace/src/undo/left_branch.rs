//! The branch that was checked out when a change was made, if another is now: most differences that an undo then finds
//! are due to the user's checkout, and revert with the branch.

use std::collections::BTreeSet;
use std::time::SystemTime;

use change_journal::ChangeNumber;
use git_index::REFERENCE_BYTES;
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::git::guard::{INDEX_BYTES, in_git_folder};
use crate::git::linked_folders::working_tree;
use crate::undo::error::{ObstacleKind, UndoObstacle};
use crate::undo::moved_checkouts::{entries, tree_of};
use crate::undo::plan::UndoContext;

/// The words with which git records a checkout in the log of `HEAD`.
pub(super) const CHECKOUT: &str = "\tcheckout: moving from ";
const TO: &str = " to ";

/// Names the former branch in the obstacles that imply it, for the selected working trees.
pub(super) fn name_left_branches(
    context: &UndoContext<'_>,
    obstacles: &mut [UndoObstacle],
    is_wanted: impl Fn(&RelPath) -> bool,
) {
    for obstacle in obstacles.iter_mut().filter(|obstacle| obstacle.why == ObstacleKind::ChangedSince) {
        let left = obstacle.left.as_ref().and_then(|left| left.0);
        let path = RelPath::parse(&obstacle.path).ok();
        let named = path.zip(left).and_then(|(path, left)| {
            let head = head_of(&path).filter(&is_wanted)?;
            let left = context.journal.content(&left.content?).ok().flatten()?;
            other_branch(context, &path, &head, &left)
        });
        obstacle.why = named.unwrap_or(ObstacleKind::ChangedSince);
    }
}

/// The working trees in which another branch is checked out than the changes left, with their tracked files. A branch that
/// was made since does not count: it holds the same work under another name.
pub(super) struct LeftTrees(Vec<(RelPath, Option<BTreeSet<Vec<u8>>>)>);

impl LeftTrees {
    /// Finds them by the obstacles that name the former branch; `None` if there are none.
    pub(super) fn of(
        context: &UndoContext<'_>,
        chosen: &BTreeSet<ChangeNumber>,
        obstacles: &[UndoObstacle],
    ) -> Option<LeftTrees> {
        let newest = chosen.last().and_then(|number| context.journal.change(*number).ok().flatten());
        let since = newest?.recorded_at;
        let named = obstacles.iter().filter(|one| matches!(one.why, ObstacleKind::OtherBranch { .. }));
        let heads: BTreeSet<RelPath> =
            named.filter_map(|one| head_of(&RelPath::parse(&one.path).ok()?)).collect();
        let trees = heads.iter().filter(|head| !is_branch_made_since(context, head, since));
        let trees: Vec<_> = trees.filter_map(|head| tracked_files(context, head)).collect();
        (!trees.is_empty()).then_some(LeftTrees(trees))
    }

    /// Returns whether a path is a tracked file in one of the trees.
    pub(super) fn track(&self, path: &RelPath) -> bool {
        self.0.iter().any(|(tree, tracked)| {
            let relative = relative_to(tree, path);
            relative.is_some_and(|path| tracked.as_ref().is_none_or(|tracked| tracked.contains(path)))
        })
    }
}

/// Returns the bytes of a path within a folder, relative to it.
pub(super) fn relative_to<'a>(folder: &RelPath, path: &'a RelPath) -> Option<&'a [u8]> {
    let length = if folder.is_root() { 0 } else { folder.as_bytes().len() + 1 };
    path.as_bytes().get(length..).filter(|_| path.starts_with(folder))
}

/// Returns the working tree of a `HEAD`, with its tracked files; inner `None` if its index cannot be read.
pub(super) fn tracked_files(
    context: &UndoContext<'_>,
    head: &RelPath,
) -> Option<(RelPath, Option<BTreeSet<Vec<u8>>>)> {
    let (_, tree) = tree_of(context, head)?;
    let index = context.root.open_file(&head.parent()?.child(b"index").ok()?).ok()?;
    let index = index.read_to_end(INDEX_BYTES).ok();
    let tracked = index.and_then(|index| entries(&index));
    Some((tree, tracked.map(|tracked| tracked.into_iter().map(|(path, _)| path).collect())))
}

/// Returns whether the branch that a `HEAD` names was made after a time, as the log of the branch says.
fn is_branch_made_since(context: &UndoContext<'_>, head: &RelPath, time: SystemTime) -> bool {
    let read = |path: &RelPath| context.root.open_file(path).ok()?.read_to_end(INDEX_BYTES).ok();
    let made_at = || {
        let folder = head.parent()?;
        let all = folder.parent().filter(|all| all.file_name() == Some(b"worktrees"));
        let repository = all.and_then(|all| all.parent()).unwrap_or(folder);
        let log = format!("logs/refs/heads/{}", branch(&read(head)?)?);
        let log = read(&repository.join(&RelPath::parse(&log).ok()?).ok()?)?;
        let first = str::from_utf8(&log).ok()?.lines().next()?;
        let (who, _) = first.split_once('\t')?;
        // Lines that git has removed from the log may have been older.
        who.split(' ').next().filter(|former| former.bytes().all(|digit| digit == b'0'))?;
        who.rsplit(' ').nth(1)?.parse::<u64>().ok()
    };
    let since = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    made_at().is_some_and(|made_at| made_at >= since)
}

/// Returns the `HEAD` file, if a path is one or its log.
fn head_of(path: &RelPath) -> Option<RelPath> {
    let part = in_git_folder(path)?;
    match part.names.as_slice() {
        [b"HEAD"] | [b"worktrees", _, b"HEAD"] => Some(path.clone()),
        [b"logs", b"HEAD"] | [b"worktrees", _, b"logs", b"HEAD"] => {
            path.parent()?.parent()?.child(b"HEAD").ok()
        }
        _ => None,
    }
}

/// Returns the branch or the commit that was checked out when a change left `HEAD`, or its log, as `left`; `None` if it
/// still is, is unknown, or no longer exists.
fn other_branch(
    context: &UndoContext<'_>,
    path: &RelPath,
    head: &RelPath,
    left: &[u8],
) -> Option<ObstacleKind> {
    let now = context.root.open_file(path).ok()?.read_to_end(INDEX_BYTES).ok()?;
    let name = if path == head {
        let name = branch(left)?;
        (branch(&now) != Some(name)).then_some(name)?
    } else {
        let added = str::from_utf8(now.strip_prefix(left)?).ok()?;
        let moves = || added.lines().filter_map(|line| line.split_once(CHECKOUT)?.1.split_once(TO));
        let (name, _) = moves().next()?;
        (moves().next_back()?.1 != name).then_some(name)?
    };
    let (repository, tree) = tree_of(context, head)?;
    let is_usable = !name.is_empty() && !name.starts_with('-') && is_there(context.root, &repository, name);
    is_usable.then(|| ObstacleKind::OtherBranch {
        branch: name.into(),
        tree: tree.to_string().into(),
        taken_by: tree_with(context, &repository, head, name).map(Into::into),
    })
}

/// Returns the other working tree that has a branch checked out, which git allows for one at a time.
pub(super) fn tree_with(
    context: &UndoContext<'_>,
    repository: &RelPath,
    head: &RelPath,
    name: &str,
) -> Option<String> {
    let read = |path: &RelPath| context.root.open_file(path).ok()?.read_to_end(REFERENCE_BYTES).ok();
    let has_it = |other: &RelPath| other != head && read(other).as_deref().and_then(branch) == Some(name);
    let own = repository.child(b"HEAD").ok()?;
    if has_it(&own) && context.root.metadata(&repository.child(b"index").ok()?).is_ok() {
        return Some(repository.parent().unwrap_or_default().to_string());
    }
    let linked = context.root.list(&repository.child(b"worktrees").ok()?).ok()?;
    let taken = linked.into_iter().find(|tree| tree.path.child(b"HEAD").is_ok_and(|other| has_it(&other)))?;
    let link = taken.path.child(b"gitdir").ok()?;
    let target = read(&link)?;
    let outside = || Some(str::from_utf8(&target).ok()?.trim_end().strip_suffix("/.git")?.to_owned());
    working_tree(&link, &target, context.workspace).map(|tree| tree.to_string()).or_else(outside)
}

/// Returns the branch that a `HEAD` names.
pub(super) fn branch(head: &[u8]) -> Option<&str> {
    str::from_utf8(head).ok()?.strip_prefix("ref: refs/heads/").map(str::trim_end)
}

pub(super) fn is_there(root: &FileRoot, repository: &RelPath, name: &str) -> bool {
    let full = format!("refs/heads/{name}");
    let child = |path: &str| RelPath::parse(path).ok().and_then(|path| repository.join(&path).ok());
    let read = |path: &str, limit| root.open_file(&child(path)?).ok()?.read_to_end(limit).ok();
    let is_packed = || {
        let list = read("packed-refs", INDEX_BYTES).unwrap_or_default();
        list.split(|byte| *byte == b'\n')
            .any(|line| line.strip_suffix(full.as_bytes()).is_some_and(|rest| rest.ends_with(b" ")))
    };
    is_commit(name) || read(&full, REFERENCE_BYTES).is_some() || is_packed()
}

pub(super) fn is_commit(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
