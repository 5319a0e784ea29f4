//! An agent's own view of the agents' branches.
//!
//! Git makes a commit on a branch by renaming a file in the folder of the branch, so that folder must be writable, and
//! whoever may write there may move and delete every branch in it. A confined agent therefore sees a folder of its own
//! in the place of the one that all agents' branches share, with its branch alone in it. What it makes of that branch is
//! carried over to the repository by the runner, and nothing else is.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::error::RunnerError;
use crate::foreign_file;
use crate::git::GitError;
use crate::head_log;
use crate::repository::Repository;
use crate::worktree::{Worktree, file_error};

/// The folder of all agents' branches, in the repository's `refs/heads` and `logs/refs/heads`.
const FOLDER: &str = "cocode";

/// What the repository's log of a branch says where the runner has moved it.
const MOVED: &str = "cocode: made by the agent";

/// How such an entry begins where git has made the branch.
const CREATED: &str = "branch: ";

/// The most bytes of a file that names a commit or a branch.
const LIMIT_BYTES: u64 = 4096;

/// More files and folders than this are in no agent's folder of branches that means well.
const MOST_BRANCHES: usize = 10_000;

/// The folders that one agent sees in the place of the shared ones.
#[derive(Clone, Debug)]
pub(crate) struct OwnBranches {
    heads: PathBuf,
    logs: PathBuf,
    shared_heads: PathBuf,
    shared_logs: PathBuf,
    /// The branch's name in these folders.
    name: String,
}

impl OwnBranches {
    /// Names the folders for a worktree with this branch. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, common_folder: &Path, branch: &str) -> OwnBranches {
        let own = worktree.git_folder.join(FOLDER);
        OwnBranches {
            heads: own.join("heads"),
            logs: own.join("logs"),
            shared_heads: common_folder.join("refs/heads").join(FOLDER),
            shared_logs: common_folder.join("logs/refs/heads").join(FOLDER),
            name: branch.strip_prefix("cocode/").unwrap_or(branch).to_owned(),
        }
    }

    /// Makes the folders, with the branch at `commit` in them.
    pub(crate) fn make(&self, commit: &str) -> Result<(), RunnerError> {
        for folder in [&self.heads, &self.logs, &self.shared_heads, &self.shared_logs] {
            fs::create_dir_all(folder).map_err(file_error("make", folder))?;
        }
        let head = self.heads.join(&self.name);
        fs::write(&head, format!("{commit}\n")).map_err(file_error("write", &head))?;
        match fs::copy(self.shared_logs.join(&self.name), self.logs.join(&self.name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(file_error("write", &self.logs)(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns each folder with the one in whose place the agent sees it.
    pub(crate) fn replaced(&self) -> Vec<(PathBuf, PathBuf)> {
        let pair = |own: &PathBuf, shared: &PathBuf| (own.clone(), shared.clone());
        vec![pair(&self.heads, &self.shared_heads), pair(&self.logs, &self.shared_logs)]
    }

    /// The commit that the agent's branch is at, as the agent has it; `None` if it is at none.
    pub(crate) fn tip(&self) -> Option<String> {
        self.commit_of(&self.name)
    }

    /// Moves the repository's branch to where the agent's own is. Returns why that cannot be, if so.
    pub(crate) fn carry_over(&self, repository: &Repository) -> Result<Option<&'static str>, GitError> {
        let Some(tip) = self.tip() else { return Ok(Some("its branch is at no commit any more")) };
        let Some((at, action)) = head_log::last_entry(&self.shared_logs.join(&self.name)) else {
            return Ok(Some("somebody else has removed its branch"));
        };
        if at == tip {
            return Ok(None);
        }
        if action != MOVED && !action.starts_with(CREATED) {
            return Ok(Some("somebody else has moved its branch"));
        }
        let reference = format!("refs/heads/{FOLDER}/{}", self.name);
        // Only from where it was left: whoever moves it in this moment is right.
        let arguments = ["update-ref", "-m", MOVED, &reference, &tip, &at];
        repository.git.run(repository.place(), &arguments).map(|_| None)
    }

    /// Leaves `HEAD` at the commit where the agent left it, if it is a branch that only the agent had.
    pub(crate) fn settle_head(&self, repository: &Repository, worktree: &Worktree) -> Result<(), GitError> {
        let Ok(text) = foreign_file::read_short(&worktree.git_folder.join("HEAD"), LIMIT_BYTES) else {
            return Ok(());
        };
        let prefix = format!("ref: refs/heads/{FOLDER}/");
        let Some(name) = text.trim_end().strip_prefix(&prefix).filter(|name| *name != self.name) else {
            return Ok(());
        };
        if let Some(commit) = self.commit_of(name) {
            let place = worktree.place(&repository.common_folder);
            repository.git.run(place, &["update-ref", "--no-deref", "-m", MOVED, "HEAD", &commit])?;
        }
        Ok(())
    }

    /// The commits of all branches that only the agent has; `None` if its folder of branches is no longer what was made, or
    /// holds more than is looked at. Nothing is followed out of it: an agent may leave a link to all there is on the machine.
    pub(crate) fn others(&self) -> Option<Vec<String>> {
        let is_folder = |path: &Path| path.symlink_metadata().map(|found| found.is_dir()).unwrap_or_default();
        if !self.heads.ancestors().take(2).all(is_folder) {
            return None;
        }
        let mut commits = Vec::new();
        let mut folders = vec![PathBuf::new()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.heads.join(&folder)).ok()? {
                let entry = entry.ok()?;
                seen += 1;
                if seen > MOST_BRANCHES {
                    return None;
                }
                let name = folder.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(name),
                    _ => commits.extend(name.to_str().and_then(|name| self.commit_of(name))),
                }
            }
        }
        Some(commits)
    }

    fn commit_of(&self, name: &str) -> Option<String> {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(is_plain) {
            return None;
        }
        let text = foreign_file::read_short(&self.heads.join(name), LIMIT_BYTES).ok()?;
        let commit = text.trim_end();
        let is_name = matches!(commit.len(), 40 | 64)
            && commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_name.then(|| commit.to_owned())
    }
}

/// Carries an agent's branch over as it moves.
#[derive(Debug)]
pub(crate) struct BranchFollower {
    branches: OwnBranches,
    repository: Repository,
    seen: Option<String>,
}

impl BranchFollower {
    pub(crate) fn new(branches: OwnBranches, repository: Repository, start_commit: &str) -> BranchFollower {
        BranchFollower { branches, repository, seen: Some(start_commit.to_owned()) }
    }

    /// Looks once. What cannot be carried over now is tried again when the agent has ended, and told then.
    pub(crate) fn look(&mut self) {
        let tip = self.branches.tip();
        if tip.is_some() && tip != self.seen {
            let _ = self.branches.carry_over(&self.repository);
            self.seen = tip;
        }
    }
}
