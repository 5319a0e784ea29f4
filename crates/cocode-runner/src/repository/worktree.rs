//! An agent's worktree and branch.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::RunnerError;
use crate::repository::git::{GitError, GitLocation};
use crate::repository::{Repository, closed_folder, planted_links};

/// The folder of an agent's own view of the repository, in its worktree's git folder.
pub(crate) const OWN_FOLDER: &str = "cocode";

/// The worktree of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Worktree {
    /// Its folder.
    pub(crate) path: PathBuf,
    /// Its own folder in the repository's `.git/worktrees`.
    pub(crate) git_folder: PathBuf,
}

impl Worktree {
    /// Makes a branch at `commit` and a worktree for it. Neither may exist.
    pub(crate) fn create(
        repository: &Repository,
        branch: &str,
        path: &Path,
        commit: &str,
    ) -> Result<Worktree, RunnerError> {
        let text = path.to_str().ok_or_else(|| RunnerError::File {
            what: "make a worktree at",
            path: path.to_owned(),
            source: io::ErrorKind::InvalidFilename.into(),
        })?;
        let log = repository.common_folder.join("logs/refs/heads").join(branch);
        planted_links::make_log_plain(&log).map_err(file_error("make", &log))?;
        // Without tracking: the base may be a remote branch, to which an agent's branch must not push.
        let arguments =
            ["worktree", "add", "--quiet", "--no-track", "-b", branch, "--end-of-options", text, commit];
        repository.git.run(repository.location(), &arguments)?;
        let folder = ["rev-parse", "--absolute-git-dir"];
        let git_folder = PathBuf::from(repository.git.run(GitLocation::Folder(path), &folder)?);
        let worktree = Worktree { path: path.to_owned(), git_folder };
        worktree.close(&repository.common_folder)?;
        worktree.prepare(&repository.common_folder)?;
        Ok(worktree)
    }

    /// Closes its git folder, and the agent's own folder in it, to every user but the owner. An agent can open them again, so
    /// they are closed again when the agent has ended, and when a runner is opened.
    pub(crate) fn close(&self, common_folder: &Path) -> Result<(), RunnerError> {
        // The path comes from a record or a worktree, so it must be one of the repository's before its mode is changed.
        let all = fs::canonicalize(common_folder.join("worktrees")).ok();
        if all.is_none() || self.git_folder.parent().and_then(|parent| fs::canonicalize(parent).ok()) != all {
            return Ok(());
        }
        for folder in [&self.git_folder, &self.git_folder.join(OWN_FOLDER)] {
            closed_folder::close(folder).map_err(file_error("close", folder))?;
        }
        Ok(())
    }

    /// Makes the files and folders that the policy names: a rule can only cover existing ones.
    fn prepare(&self, common_folder: &Path) -> Result<(), RunnerError> {
        for folder in kept_objects(common_folder) {
            fs::create_dir_all(&folder).map_err(file_error("make", &folder))?;
        }
        let settings = self.git_folder.join("config.worktree");
        match fs::OpenOptions::new().write(true).create_new(true).open(&settings) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(file_error("make", &settings)(error)),
        }
    }

    pub(crate) fn location<'a>(&'a self, common_folder: &'a Path) -> GitLocation<'a> {
        GitLocation::Worktree { common_folder, git_folder: &self.git_folder, work_tree: &self.path }
    }

    /// Returns whether it holds nothing uncommitted and nothing untracked.
    pub(crate) fn is_clean(&self, repository: &Repository) -> Result<bool, GitError> {
        let arguments = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
        Ok(repository.git.run(self.location(&repository.common_folder), &arguments)?.is_empty())
    }
}

/// Returns the parts of the shared objects that no commit writes: the packs, which hold the repository's history, and the
/// references to other repositories' objects.
pub(crate) fn kept_objects(common_folder: &Path) -> [PathBuf; 2] {
    ["objects/pack", "objects/info"].map(|name| common_folder.join(name))
}

/// Returns the folders that agents share without views of their own: of objects, of all agents' branches, of their logs.
pub(crate) fn shared_folders(common_folder: &Path) -> [PathBuf; 3] {
    ["objects", "refs/heads/cocode", "logs/refs/heads/cocode"].map(|name| common_folder.join(name))
}

/// Returns a function that wraps an I/O error of the operation `what` on `path`.
pub(crate) fn file_error<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> RunnerError + 'a {
    move |source| RunnerError::File { what, path: path.to_owned(), source }
}
