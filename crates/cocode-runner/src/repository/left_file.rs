//! Files of a worktree that are in no commit.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::repository::Repository;
use crate::repository::git::GitError;
use crate::repository::worktree::Worktree;

/// The most files that are kept in mind of what a check has left.
const MOST_FILES: usize = 1_000;

/// The most bytes of their paths together.
const MOST_PATH_BYTES: usize = 64 << 10;

/// The most files that are named where they keep a worktree.
const MOST_NAMED: usize = 5;

/// A file that is untracked, or not as it is committed, and how it was when it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftFile {
    /// Its path in the worktree.
    pub path: PathBuf,
    /// Its size in bytes, and when it was last changed, in nanoseconds since 1970; `None` if it is gone.
    pub stamp: Option<(u64, i64)>,
}

/// All files of a worktree that are untracked, or not as they are committed. What git ignores is none of them.
pub(crate) fn find(repository: &Repository, worktree: &Worktree) -> Result<Vec<LeftFile>, GitError> {
    let arguments =
        ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"];
    let said = repository.git.run_for_bytes(worktree.location(&repository.common_folder), &arguments)?;
    let paths = said.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
    Ok(paths.map(|path| LeftFile::at(&worktree.path, Path::new(OsStr::from_bytes(path)))).collect())
}

/// What of `after` was not there `before` as it is now; nothing if that is more than is kept in mind.
pub(crate) fn new_since(before: &[LeftFile], after: Vec<LeftFile>) -> Vec<LeftFile> {
    let new: Vec<LeftFile> = after.into_iter().filter(|file| !before.contains(file)).collect();
    let path_bytes: usize = new.iter().map(|file| file.path.as_os_str().len()).sum();
    let is_text = new.iter().all(|file| file.path.to_str().is_some());
    if new.len() > MOST_FILES || path_bytes > MOST_PATH_BYTES || !is_text { Vec::new() } else { new }
}

/// The first of these files by name, and how many more there are.
pub(crate) fn named(files: &[LeftFile]) -> String {
    let shown = files.iter().take(MOST_NAMED).map(|file| file.path.to_string_lossy().into_owned());
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if files.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", files.len() - MOST_NAMED));
    }
    text
}

impl LeftFile {
    fn at(root: &Path, path: &Path) -> LeftFile {
        let found = root.join(path).symlink_metadata().ok();
        let stamp = found.map(|found| {
            let nanoseconds = found.mtime().saturating_mul(1_000_000_000).saturating_add(found.mtime_nsec());
            (found.len(), nanoseconds)
        });
        LeftFile { path: path.to_owned(), stamp }
    }
}
