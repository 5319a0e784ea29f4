//! Repositories that another program has used between a crash and the recovery. A command's changes would be mixed with
//! that use, such as its index with the branch that the user has checked out since.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use change_journal::{ChangeState, Journal, RecordedChange};
use git_index::REFERENCE_BYTES;
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::git::guard::in_git_folder;
use crate::git::stored_names::store_around;
use crate::recover::recovery_path::{Lost, is_about_folders_only, is_foreign, is_redoable, last};

/// Returns the repository whose parts are used together with a path; `None` for objects, which are harmless alone.
pub(super) fn repository_with(path: &RelPath) -> Option<RelPath> {
    let part = in_git_folder(path)?;
    store_around(path).is_none().then_some(part.folder)
}

/// Returns whether it is not certain that the change of a path came about.
pub(super) fn is_open(changes: &[RecordedChange]) -> bool {
    last(changes).state == ChangeState::Intended
}

/// Returns the repositories with changes whose files another program has written since, or in which it has checked out a branch that
/// is among them.
pub(super) fn repositories_in_use(
    root: &FileRoot,
    journal: &Journal,
    by_path: &BTreeMap<RelPath, Vec<RecordedChange>>,
    lost: &dyn Fn(&RecordedChange) -> Lost,
) -> BTreeSet<RelPath> {
    let mut repositories: BTreeMap<RelPath, Vec<(&RelPath, &[RecordedChange])>> = BTreeMap::new();
    for (path, changes) in by_path.iter().filter(|(_, changes)| is_open(changes)) {
        if let Some(folder) = repository_with(path) {
            repositories.entry(folder).or_default().push((path, changes));
        }
    }
    let is_written = |(path, changes): &(&RelPath, &[RecordedChange])| {
        let is_file = is_redoable(last(changes)) && !is_about_folders_only(changes);
        // Unreadable paths are left to the recovery of each path.
        is_file && is_foreign(root, journal, path, changes, lost(last(changes))).unwrap_or_default()
    };
    let is_used = |(folder, paths): &(RelPath, Vec<(&RelPath, &[RecordedChange])>)| {
        paths.iter().any(is_written)
            || heads(root, folder).iter().any(|head| has_checked_out(root, journal, folder, head, by_path))
    };
    repositories.into_iter().filter(is_used).map(|(folder, _)| folder).collect()
}

/// Returns the `HEAD` files of a repository's working trees.
fn heads(root: &FileRoot, folder: &RelPath) -> Vec<RelPath> {
    let trees = folder.child(b"worktrees").ok().and_then(|all| root.list(&all).ok()).unwrap_or_default();
    let folders = std::iter::once(folder.clone()).chain(trees.into_iter().map(|tree| tree.path));
    folders.filter_map(|folder| folder.child(b"HEAD").ok()).collect()
}

/// Returns whether another program has written a `HEAD` since the changes were recorded, and it points to a branch
/// among them.
fn has_checked_out(
    root: &FileRoot,
    journal: &Journal,
    folder: &RelPath,
    head: &RelPath,
    by_path: &BTreeMap<RelPath, Vec<RecordedChange>>,
) -> bool {
    let text = root.open_file(head).and_then(|file| file.read_to_end(REFERENCE_BYTES)).unwrap_or_default();
    let Some(name) = text.strip_prefix(b"ref:") else { return false };
    let child = |name: &[u8]| RelPath::from_bytes(name).and_then(|name| folder.join(&name)).ok();
    let paths = [child(name.trim_ascii()), child(b"packed-refs")];
    let moved =
        paths.iter().flatten().filter_map(|path| by_path.get(path)).filter(|changes| is_open(changes));
    let Some(first) = moved.flatten().min_by_key(|change| change.number) else { return false };
    let is_own = |change: &RecordedChange| change.number >= first.number || change.run == first.run;
    if latest(journal, head).is_some_and(|change| is_own(&change)) {
        return false;
    }
    let recorded = first.recorded_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let recorded = i128::try_from(recorded.as_nanos()).unwrap_or(i128::MAX);
    root.metadata(head).is_ok_and(|metadata| metadata.stamp().status_changed_nanoseconds > recorded)
}

fn latest(journal: &Journal, path: &RelPath) -> Option<RecordedChange> {
    journal.reader().changes_of_path(path.as_bytes(), 1).ok()?.into_iter().next()
}
