//! Files of a worktree that are in no commit.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::repository::Repository;
use crate::repository::git::GitError;
use crate::repository::worktree::Worktree;

/// The most files of a check that are recorded.
const MOST_FILES: usize = 1_000;

/// The most bytes of their paths together.
const MOST_PATH_BYTES: usize = 64 << 10;

/// The most files that a message names.
const MOST_NAMED: usize = 5;

/// An untracked or changed file, with its state at the time of the listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftFile {
    /// Its path in the worktree.
    pub path: PathBuf,
    /// Its size in bytes and its modification time in nanoseconds since 1970; `None` if it is deleted.
    pub stamp: Option<(u64, i64)>,
}

/// Returns all untracked or changed files of a worktree and its staged submodules, without the ignored files.
pub(crate) fn find(repository: &Repository, worktree: &Worktree) -> Result<Vec<LeftFile>, GitError> {
    let arguments =
        ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"];
    let entries = repository.git.run_for_bytes(worktree.location(&repository.common_folder), &arguments)?;
    // Each entry has two letters of state and a blank before the path.
    let paths = entries.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    let all = paths.chain(worktree.staged_submodules(repository)?);
    Ok(all.map(|path| LeftFile::at(&worktree.path, &path)).collect())
}

/// Returns the files of `after` that are not in `before` with the same state; none if they exceed the record's limits.
pub(crate) fn new_since(before: &[LeftFile], after: Vec<LeftFile>) -> Vec<LeftFile> {
    let new: Vec<LeftFile> = after.into_iter().filter(|file| !before.contains(file)).collect();
    let path_bytes: usize = new.iter().map(|file| file.path.as_os_str().len()).sum();
    // The record is JSON, which cannot hold other paths.
    let is_text = new.iter().all(|file| file.path.to_str().is_some());
    if new.len() > MOST_FILES || path_bytes > MOST_PATH_BYTES || !is_text { Vec::new() } else { new }
}

/// Renders the names of the first files, and the number of further ones.
pub(crate) fn named(files: &[LeftFile]) -> String {
    let names = files.iter().take(MOST_NAMED).map(|file| file.path.to_string_lossy().into_owned());
    let mut text = names.collect::<Vec<_>>().join(", ");
    if files.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", files.len() - MOST_NAMED));
    }
    text
}

impl LeftFile {
    fn at(root: &Path, path: &Path) -> LeftFile {
        let metadata = root.join(path).symlink_metadata().ok();
        let stamp = metadata.map(|data| {
            let nanoseconds = data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec());
            (data.len(), nanoseconds)
        });
        LeftFile { path: path.to_owned(), stamp }
    }
}
