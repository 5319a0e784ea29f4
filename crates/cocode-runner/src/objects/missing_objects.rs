//! Names of missing objects that an agent leaves in its index, in `HEAD` and among the branches that agents share.
//!
//! `git gc`, `git repack` and `git log --all` read the indexes and `HEAD` of all worktrees and all branches, and fail at the
//! first name without an object: in the user's whole repository, as long as the name exists.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bundle::empty_folder;
use crate::bundle::header::is_object_name;
use crate::objects::object_import::{LIMIT, has_whole};
use crate::record::AgentRecord;
use crate::repository::git::GitError;
use crate::repository::own_branches::KEEP;
use crate::repository::worktree::Worktree;
use crate::repository::{Repository, foreign_file, own_index, used_branches};

/// The folder of all agents' branches, in the repository's own one.
const BRANCHES: &str = "refs/heads/cocode";

/// The most bytes of a branch's file.
const LIMIT_BYTES: u64 = 4096;

/// The most branches that are checked.
const MOST_BRANCHES: usize = 10_000;

/// The suffix of git's lock files.
const LOCK: &str = ".lock";

/// The arguments that exclude everything reachable from references other than the agents'.
const BUT_OF_USER: [&str; 5] = ["--not", "--exclude=cocode/*", "--branches", "--tags", "--remotes"];

/// Quarantines an index that names missing objects. Returns a warning for the user then.
///
/// The agent's objects must already be imported.
pub(crate) fn refuse_index(repository: &Repository, worktree: &Worktree, start: &str) -> Option<String> {
    if !worktree.git_folder.join("index").is_file() {
        return None;
    }
    let mut arguments = vec!["rev-list", "--quiet", "--objects", "--single-worktree", "--indexed-objects"];
    arguments.extend(repository.is_partial().then_some("--exclude-promisor-objects"));
    arguments.extend(["--not", start]);
    let location = worktree.location(&repository.common_folder);
    let is_refused = is_refused(repository.within(LIMIT).git.run(location, &arguments));
    is_refused.then(|| own_index::quarantine(worktree, "it names objects that are missing"))
}

/// Points `HEAD` to the agent's branch if it names a missing or incomplete commit. Returns a warning for the user then.
pub(crate) fn refuse_head(
    repository: &Repository,
    worktree: &Worktree,
    record: &AgentRecord,
) -> Option<String> {
    let text = foreign_file::read_short(&worktree.git_folder.join("HEAD"), LIMIT_BYTES).ok()?;
    let commit = text.trim_end();
    let start = &record.start_commit;
    if !is_object_name(commit) || commit == start {
        return None;
    }
    let is_whole = has_whole(repository, commit, std::slice::from_ref(start), LIMIT);
    // A failure of this machine says nothing about the commit.
    if is_whole.unwrap_or(true) && repository.commit(commit).is_some() {
        return None;
    }
    let head = used_branches::head_at(&record.branch);
    Some(match used_branches::write_head(&worktree.git_folder, head.as_bytes()) {
        Ok(()) => "HEAD of its worktree names a commit that is damaged or missing; it names its branch now"
            .to_owned(),
        Err(error) => format!(
            "HEAD of its worktree names a commit that is damaged or missing, and cannot be changed ({}): git gc fails \
             until the worktree is removed",
            error.kind()
        ),
    })
}

/// Removes branches of agents without their own views that name no complete commit. Returns a warning for the user then.
///
/// Other agents may still run.
pub(crate) fn refuse_branches(repository: &Repository, start: &str) -> Option<String> {
    let folder = repository.common_folder.join(BRANCHES);
    let mut refused = Vec::new();
    for (name, path) in files(&folder) {
        let text = foreign_file::read_short(&path, LIMIT_BYTES);
        let is_missing = text.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let commit = text.ok().map(|text| text.trim_end().to_owned()).filter(|text| is_object_name(text));
        let is_refused = match &commit {
            _ if is_missing => false,
            Some(commit) => is_incomplete(repository, commit, start),
            None => true,
        };
        if is_refused && fs::remove_file(&path).is_ok() {
            refused.push(format!("{BRANCHES}/{name}"));
        }
    }
    (!refused.is_empty()).then(|| {
        format!(
            "branches of agents named commits that are damaged or missing, with which git gc would fail; they were removed: {}",
            refused.join(", ")
        )
    })
}

/// Returns a warning if a lock in the folder of objects keeps git from maintaining the repository. An agent that shares the
/// folder may have left it; but the user's git may hold it right now, so it stays.
pub(crate) fn maintenance_lock(common_folder: &Path) -> Option<String> {
    let lock = Path::new("objects/maintenance.lock");
    common_folder.join(lock).symlink_metadata().is_ok().then(|| {
        format!(
            "'{}' in the repository keeps git from maintaining it; remove it unless `git maintenance` runs now",
            lock.display()
        )
    })
}

/// Removes leftovers of agents without their own views at the name of a branch that is about to be made: locks, and logs of
/// branches that do not exist. Returns the name of a branch below it, which prevents its creation, if any.
pub(crate) fn free_name(common_folder: &Path, branch: &str) -> Option<String> {
    let head = common_folder.join("refs/heads").join(branch);
    let log = common_folder.join("logs/refs/heads").join(branch);
    for path in [&head, &log] {
        let mut lock = path.clone().into_os_string();
        lock.push(LOCK);
        let _ = fs::remove_file(lock);
    }
    remove_locks(&head);
    if let Some((name, _)) = files(&head).into_iter().next() {
        return Some(format!("{branch}/{name}"));
    }
    if log.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        let _ = empty_folder::remove(&log);
    }
    None
}

/// Removes all locks and empty folders below a folder of branches in which no agent runs.
pub(crate) fn remove_locks(folder: &Path) {
    let folders = walk(folder, &mut |name, path| {
        if name.ends_with(LOCK) {
            let _ = fs::remove_file(path);
        }
    });
    // The inner ones first. Non-empty folders stay.
    for inner in folders.iter().skip(1).rev().filter(|inner| !inner.ends_with(KEEP)) {
        let _ = fs::remove_dir(inner);
    }
}

/// Returns whether the repository lacks a commit, or anything that it refers to; false if that is uncertain.
fn is_incomplete(repository: &Repository, commit: &str, start: &str) -> bool {
    let repository = repository.within(LIMIT);
    let is_refused = |tip: Option<&str>| {
        let mut arguments = vec!["rev-list", "--quiet", "--objects"];
        arguments.extend(repository.is_partial().then_some("--exclude-promisor-objects"));
        arguments.extend(tip);
        arguments.extend(BUT_OF_USER);
        arguments.push(start);
        is_refused(repository.git.run(repository.location(), &arguments))
    };
    // Other damage of the repository says nothing about this commit.
    is_refused(Some(commit)) && !is_refused(None)
}

/// Returns whether git itself refused, rather than this machine failing.
fn is_refused<T>(outcome: Result<T, GitError>) -> bool {
    outcome.is_err_and(|error| matches!(error, GitError::Failed { .. }) && !error.is_of_this_machine())
}

/// Returns the files below a folder of branches except locks, with their relative names.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    walk(folder, &mut |name, path| {
        if !name.ends_with(LOCK) {
            files.push((name.to_owned(), path.to_owned()));
        }
    });
    files
}

/// Visits the files below a folder, with their relative names, and returns it and all folders below it, the outer ones
/// first. Names that are not text belong to no agent.
fn walk(folder: &Path, visit: &mut dyn FnMut(&str, &Path)) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    // An agent that is not confined can have put a link there.
    if folder.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        folders.push(folder.to_owned());
    }
    let (mut next, mut count) = (0, 0);
    while let Some(inner) = folders.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(&inner).into_iter().flatten().flatten() {
            count += 1;
            if count > MOST_BRANCHES {
                return folders;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    if let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                        visit(name, &path);
                    }
                }
                _ => {}
            }
        }
    }
    folders
}
