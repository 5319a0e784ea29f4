//! Compares a worktree with its commit, through a temporary index. The worktree's own index can hide files.

use std::ffi::OsStr;

use tempfile::TempDir;

use crate::error::RunnerError;
use crate::objects::object_import::LIMIT;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError, GitLocation};
use crate::repository::worktree::{Worktree, file_error};

/// An index of the commit at a worktree's `HEAD`, in a folder that is removed afterwards.
#[derive(Debug)]
pub(crate) struct OwnComparison<'a> {
    /// The commit; `None` without one, and every file counts as untracked.
    pub(crate) head: Option<String>,
    pub(super) location: GitLocation<'a>,
    pub(super) git: Git,
    _folder: TempDir,
}

impl<'a> OwnComparison<'a> {
    /// The agent must not be running any more.
    pub(crate) fn of(
        repository: &'a Repository,
        worktree: &'a Worktree,
    ) -> Result<OwnComparison<'a>, RunnerError> {
        let location = worktree.location(&repository.common_folder);
        // A new folder, since a symlink may be at any name.
        let folder = tempfile::Builder::new().prefix("agentd-index-").tempdir_in(&worktree.git_folder);
        let folder = folder.map_err(file_error("make a folder in", &worktree.git_folder))?;
        let git = repository.git.within(LIMIT).with_index(&folder.path().join("index"));
        let head = git.ask(location, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        if let Some(commit) = &head {
            git.run(location, &["-c", "core.splitIndex=false", "read-tree", commit])?;
        }
        Ok(OwnComparison { head, location, git, _folder: folder })
    }

    /// Runs git with this index and returns its output.
    pub(crate) fn run_for_bytes<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, GitError> {
        self.git.run_for_bytes(self.location, arguments)
    }
}
