//! A commit of the current work tree, for agents that continue uncommitted work.

use std::fs;
use std::io::{Seek, Write};
use std::path::Path;

use crate::error::{RepositoryError, RunnerError};
use crate::repository::worktree::file_error;
use crate::runner::Runner;

/// The author of a snapshot in a repository without a user's identity.
const AUTHOR: [&str; 4] = ["-c", "user.name=agentd", "-c", "user.email=agentd@localhost"];

impl Runner {
    /// Commits all files of the work tree and returns the commit; `HEAD` if nothing differs from it. Left out are files that git
    /// ignores, and those that it does not track for which `leaves_out` holds, by their paths from the root. No branch, index or file changes: git keeps the objects, and an agent's branch that starts there keeps the commit.
    ///
    /// # Errors
    /// [`RunnerError::BelowTheRoot`], [`RunnerError::Repository`], [`RunnerError::Git`], [`RunnerError::File`].
    pub fn snapshot(&self, title: &str, leaves_out: &dyn Fn(&str) -> bool) -> Result<String, RunnerError> {
        self.is_at_root()?;
        let repository = &self.repository;
        let head = repository.commit("HEAD").ok_or(RepositoryError::NoCommits)?;
        let index = self.config.state_folder.join("snapshot.index");
        let made = self.snapshot_through(&index, &head, (title, leaves_out));
        // A failure leaves a file that the next snapshot replaces.
        let _ = fs::remove_file(&index);
        made
    }

    fn snapshot_through(
        &self,
        index: &Path,
        head: &str,
        (title, leaves_out): (&str, &dyn Fn(&str) -> bool),
    ) -> Result<String, RunnerError> {
        let repository = &self.repository;
        let location = repository.location();
        // Starting from a copy of the user's index saves reading unchanged files.
        let arguments = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
        let theirs = repository.git.run(location, &arguments)?;
        match fs::copy(&theirs, index) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(file_error("copy", Path::new(&theirs))(error));
            }
            _ => {}
        }
        let git = repository.git.with_index(index);
        let untracked = ["ls-files", "--others", "--exclude-standard", "-z"];
        let untracked = git.run_for_bytes(location, &untracked)?;
        let mut patterns = b".".to_vec();
        for name in untracked.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            if leaves_out(&String::from_utf8_lossy(name)) {
                patterns.extend_from_slice(b"\0:(top,literal,exclude)");
                patterns.extend_from_slice(name);
            }
        }
        // In a file, since command lines are limited.
        let folder = &self.config.state_folder;
        let mut list = tempfile::tempfile_in(folder).map_err(file_error("write in", folder))?;
        list.write_all(&patterns).and_then(|()| list.rewind()).map_err(file_error("write in", folder))?;
        let arguments = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
        git.read_from(location, &arguments, list)?;
        let tree = git.run(location, &["write-tree"])?;
        if repository.git.run(location, &["rev-parse", &format!("{head}^{{tree}}")])? == tree {
            return Ok(head.to_owned());
        }
        let author: &[&str] = if repository.setting("user.email").is_some() { &[] } else { &AUTHOR };
        let commit = ["commit-tree", "-p", head, "-m", title, &tree];
        Ok(git.run(location, &[author, &commit].concat())?)
    }

    /// Checks that the runner was opened on the repository's whole work tree.
    pub(crate) fn is_at_root(&self) -> Result<(), RunnerError> {
        let folder =
            fs::canonicalize(&self.config.repository).map_err(file_error("open", &self.config.repository))?;
        match fs::canonicalize(&self.repository.root).is_ok_and(|root| root == folder) {
            true => Ok(()),
            false => Err(RunnerError::BelowTheRoot),
        }
    }
}
