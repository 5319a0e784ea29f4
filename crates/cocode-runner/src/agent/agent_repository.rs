//! Git as used by an agent in its own worktree.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cache_folders::CacheFolders;
use crate::repository::git::WITH_SUBMODULES;

/// The worktree of an agent and its git folders, as git reports them to the agent itself.
#[derive(Clone, Debug)]
pub struct AgentRepository {
    worktree: PathBuf,
    /// The worktree's own git folder.
    pub git_folder: PathBuf,
    /// The git folder that all worktrees of the repository share.
    pub common_folder: PathBuf,
}

/// The reason that a git call of an agent failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentGitError {
    /// git cannot be started.
    #[error("git: {0}")]
    NotStarted(#[source] io::Error),
    /// git failed.
    #[error("git {command} failed: {errors}")]
    Failed {
        /// The first argument.
        command: String,
        /// The text on its standard error.
        errors: String,
    },
    /// git does not name its folders.
    #[error("git does not say where its folders are")]
    NoFolders,
}

/// The outcome of a commit of everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedWork {
    /// False if nothing had changed, so that there is no commit.
    pub is_committed: bool,
    /// New files that were left out because they are in caches, by their paths in the worktree.
    pub left_out: Vec<PathBuf>,
}

impl AgentRepository {
    /// Finds the git folders of a worktree.
    ///
    /// # Errors
    /// git cannot be started, or the folder is not a worktree.
    pub fn find(worktree: &Path) -> Result<AgentRepository, AgentGitError> {
        let arguments = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
        let (_, folders) = git(worktree, &arguments, b"")?;
        let folders = String::from_utf8_lossy(&folders);
        let (git_folder, common_folder) =
            folders.trim_end().split_once('\n').ok_or(AgentGitError::NoFolders)?;
        Ok(AgentRepository {
            worktree: worktree.to_owned(),
            git_folder: git_folder.into(),
            common_folder: common_folder.into(),
        })
    }

    /// Commits all changes, except new files that git ignores or that are in caches.
    ///
    /// # Errors
    /// git cannot be started or fails, for instance because a hook refuses the commit.
    pub fn commit_all(&self, message: &str) -> Result<CommittedWork, AgentGitError> {
        git(&self.worktree, &["add", "--update"], b"")?;
        let (_, new) = git(&self.worktree, &["ls-files", "-z", "--others", "--exclude-standard"], b"")?;
        let new = new.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let caches = CacheFolders::of(&self.worktree);
        let (left_out, new): (Vec<_>, Vec<_>) =
            new.map(|path| Path::new(OsStr::from_bytes(path))).partition(|path| caches.hold(path));
        if !new.is_empty() {
            // Literal, so that a file name that is also a pattern matches only itself.
            let paths: Vec<u8> = new
                .iter()
                .flat_map(|path| [b":(top,literal)", path.as_os_str().as_bytes(), b"\0"].concat())
                .collect();
            git(&self.worktree, &["add", "--pathspec-from-file=-", "--pathspec-file-nul"], &paths)?;
        }
        let left_out = left_out.into_iter().map(Path::to_owned).collect();
        let (code, _) = git(&self.worktree, &["diff", "--cached", "--quiet", WITH_SUBMODULES], b"")?;
        let is_committed = code != 0;
        if is_committed {
            let arguments = ["commit", "--quiet", "--cleanup=whitespace", "--file=-"];
            git(&self.worktree, &arguments, message.as_bytes())?;
        }
        Ok(CommittedWork { is_committed, left_out })
    }
}

/// Runs git and returns its exit code, 0 or 1, and its output: names of files need not be text.
fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Result<(i32, Vec<u8>), AgentGitError> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(AgentGitError::NotStarted)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A failing git may not read all of it; its error says why.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(AgentGitError::NotStarted)?;
    match output.status.code() {
        Some(0) => Ok((0, output.stdout)),
        // The answer "they differ" of diff, and a failure of every other command.
        Some(1) if arguments[0] == "diff" => Ok((1, output.stdout)),
        _ => Err(AgentGitError::Failed {
            command: arguments[0].to_owned(),
            errors: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}
