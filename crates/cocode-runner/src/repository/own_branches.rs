//! An agent's own view of the agents' branches.
//!
//! Git commits to a branch by renaming a file in the folder of the branch, so that folder must be writable, and a process
//! that may write there may move and delete every branch in it. A confined agent therefore sees its own folder instead of
//! the one that all agents' branches share, with only its branch in it. The runner copies only the tip of that branch to
//! the repository.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use crate::bundle::header::is_object_name;
use crate::error::RunnerError;
use crate::objects::missing_objects;
use crate::objects::object_import::ObjectImport;
use crate::repository::git::GitError;
use crate::repository::worktree::{OWN_FOLDER, Worktree, file_error};
use crate::repository::{Repository, closed_folder, foreign_file, head_log, used_branches};

/// The folder of all agents' branches, in the repository's `refs/heads` and `logs/refs/heads`.
const FOLDER: &str = "cocode";

/// An empty folder, which keeps git from removing the folder around it.
pub(crate) const KEEP: &str = ".keep";

/// The entry in the repository's log of a branch where the runner has moved it.
const MOVED: &str = "cocode: made by the agent";

/// The beginning of such an entry where git has made the branch.
const CREATED: &str = "branch: ";

/// The most bytes of a file that names a commit or a branch.
const LIMIT_BYTES: u64 = 4096;

/// The most files and folders in an agent's folder of branches. More are a sign of abuse.
const MOST_BRANCHES: usize = 10_000;

/// The folders that one agent sees instead of the shared ones.
#[derive(Clone, Debug)]
pub(crate) struct OwnBranches {
    heads: PathBuf,
    logs: PathBuf,
    shared_heads: PathBuf,
    shared_logs: PathBuf,
    /// The git folder in which the agent works.
    git_folder: PathBuf,
    /// The branch's name in these folders.
    name: String,
}

impl OwnBranches {
    /// Returns the paths for a worktree with this branch. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, common_folder: &Path, branch: &str) -> OwnBranches {
        let own = worktree.git_folder.join(OWN_FOLDER);
        let [shared_heads, shared_logs] = shared(common_folder);
        OwnBranches {
            heads: own.join("heads"),
            logs: own.join("logs"),
            shared_heads,
            shared_logs,
            git_folder: worktree.git_folder.clone(),
            name: branch.strip_prefix("cocode/").unwrap_or(branch).to_owned(),
        }
    }

    /// Returns the same for a running agent, which has its own git folder until it has ended.
    pub(crate) fn while_in(self, git_folder: &Path) -> OwnBranches {
        OwnBranches { git_folder: git_folder.to_owned(), ..self }
    }

    /// Makes the folders, with the branch at `commit` in them.
    pub(crate) fn make(&self, commit: &str) -> Result<(), RunnerError> {
        for folder in [&self.heads, &self.logs] {
            closed_folder::make(folder).map_err(file_error("make", folder))?;
        }
        keep(&[&self.shared_heads, &self.shared_logs])?;
        let head = self.heads.join(&self.name);
        fs::write(&head, format!("{commit}\n")).map_err(file_error("write", &head))?;
        // The agent's log continues the one of the branch. An agent that shares these logs could have made it a symlink.
        let copied = foreign_file::open(&self.shared_logs.join(&self.name))
            .and_then(|mut log| io::copy(&mut log, &mut File::create(self.logs.join(&self.name))?));
        match copied {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(file_error("write", &self.logs)(error))
            }
            _ => Ok(()),
        }
    }

    /// Makes the shared folders in the repository, for agents that write into them.
    pub(crate) fn make_shared(common_folder: &Path) -> Result<(), RunnerError> {
        let [heads, logs] = shared(common_folder);
        keep(&[&heads, &logs])
    }

    /// Removes the shared folders from the repository, unless a branch is left in them.
    pub(crate) fn remove_shared(common_folder: &Path) {
        for folder in shared(common_folder) {
            missing_objects::remove_locks(&folder);
            let is_alone = fs::read_dir(&folder)
                .is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name().as_os_str() == KEEP));
            if is_alone {
                // A branch that is made at this moment keeps the folder, because only empty ones are removed.
                let _ = fs::remove_dir(folder.join(KEEP)).and_then(|()| fs::remove_dir(folder));
            }
        }
    }

    /// Returns pairs of an own folder and the shared folder that it replaces in the agent's view.
    pub(crate) fn replaced(&self) -> Vec<(PathBuf, PathBuf)> {
        let pair = |own: &PathBuf, shared: &PathBuf| (own.clone(), shared.clone());
        vec![pair(&self.heads, &self.shared_heads), pair(&self.logs, &self.shared_logs)]
    }

    /// Returns the tip of the branch in the agent's view; `None` if the branch names no commit.
    pub(crate) fn tip(&self) -> Option<String> {
        self.commit_of(&self.name)
    }

    /// Moves the repository's branch to the agent's tip, and returns the reason if it cannot. For agents that write their
    /// objects into the repository.
    pub(crate) fn move_to_tip(&self, repository: &Repository) -> Result<Option<&'static str>, GitError> {
        match self.pending_move() {
            Ok(Some((at, tip))) => self.move_branch(repository, &at, &tip).map(|()| None),
            Ok(None) => Ok(None),
            Err(why) => Ok(Some(why)),
        }
    }

    /// Imports the agent's tip, and moves the repository's branch to it. Returns the reason if it cannot.
    pub(crate) fn import_tip(
        &self,
        repository: &Repository,
        import: &mut ObjectImport,
    ) -> Result<Option<&'static str>, RunnerError> {
        let (at, tip) = match self.pending_move() {
            Ok(Some(change)) => change,
            Ok(None) => return Ok(None),
            Err(why) => return Ok(Some(why)),
        };
        if !import.import_commit(&tip)? {
            return Ok(Some("the commit at the tip of its branch is damaged or missing"));
        }
        self.move_branch(repository, &at, &tip)?;
        Ok(None)
    }

    /// Returns the old and new commit of the repository's branch; `None` if it need not move. The error is the reason that it
    /// cannot.
    fn pending_move(&self) -> Result<Option<(String, String)>, &'static str> {
        let Some(tip) = self.tip() else { return Err("its branch no longer names a commit") };
        let Some((at, action)) = head_log::last_entry(&self.shared_logs.join(&self.name)) else {
            return Err("another process has removed its branch");
        };
        if at == tip {
            return Ok(None);
        }
        if action != MOVED && !action.starts_with(CREATED) {
            return Err("another process has moved its branch");
        }
        Ok(Some((at, tip)))
    }

    fn move_branch(&self, repository: &Repository, at: &str, tip: &str) -> Result<(), GitError> {
        let reference = format!("refs/heads/{FOLDER}/{}", self.name);
        // With the old commit as the condition: a move by another process at this moment wins. A symbolic reference, which
        // an agent that shares the folder can make of the branch, is not followed to another branch.
        let arguments = ["update-ref", "--no-deref", "-m", MOVED, &reference, tip, at];
        repository.git.run(repository.location(), &arguments).map(drop)
    }

    /// Detaches `HEAD` at its commit, if it names a branch that exists only in the agent's view.
    ///
    /// Not by git, which would add an entry to the log of `HEAD`: the agent could have put a symlink there, and an entry
    /// would count as proof that the commit was made here.
    pub(crate) fn settle_head(&self) -> Result<(), RunnerError> {
        let Head::Own(commit) = self.head() else { return Ok(()) };
        used_branches::detach(&self.git_folder, &commit)
            .map_err(file_error("write", &self.git_folder.join("HEAD")))
    }

    /// Returns the commits of all branches in the agent's view; `None` if its folder was replaced or holds more than
    /// [`MOST_BRANCHES`]. Symlinks are not followed: one may lead to any folder of the machine.
    pub(crate) fn branch_commits(&self) -> Option<Vec<String>> {
        let is_folder = |path: &Path| path.symlink_metadata().map(|data| data.is_dir()).unwrap_or_default();
        if !self.heads.ancestors().take(2).all(is_folder) {
            return None;
        }
        let mut commits = Vec::new();
        let mut folders = vec![PathBuf::new()];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.heads.join(&folder)).ok()? {
                let entry = entry.ok()?;
                count += 1;
                if count > MOST_BRANCHES {
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

    /// Returns the commit of `HEAD`, if it is detached or on a branch that exists only in the agent's view.
    pub(crate) fn head_commit(&self) -> Option<String> {
        match self.head() {
            Head::Commit(commit) | Head::Own(commit) => Some(commit),
            Head::Else => None,
        }
    }

    /// Returns a stamp that changes with the worktree's index; `None` if there is no index.
    pub(crate) fn index_stamp(&self) -> Option<IndexStamp> {
        let index = self.git_folder.join("index").symlink_metadata().ok()?;
        Some(IndexStamp { inode: index.ino(), length_bytes: index.len(), modified: index.modified().ok()? })
    }

    fn head(&self) -> Head {
        let Ok(text) = foreign_file::read_short(&self.git_folder.join("HEAD"), LIMIT_BYTES) else {
            return Head::Else;
        };
        let text = text.trim_end();
        if is_object_name(text) {
            return Head::Commit(text.to_owned());
        }
        let name = text
            .strip_prefix("ref: refs/heads/")
            .and_then(|name| name.strip_prefix(FOLDER)?.strip_prefix('/'));
        let name = name.filter(|name| *name != self.name);
        name.and_then(|name| self.commit_of(name)).map_or(Head::Else, Head::Own)
    }

    fn commit_of(&self, name: &str) -> Option<String> {
        // The name comes from the agent's `HEAD` or folders, and must not lead out of them.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(is_plain) {
            return None;
        }
        let text = foreign_file::read_short(&self.heads.join(name), LIMIT_BYTES).ok()?;
        Some(text.trim_end()).filter(|commit| is_object_name(commit)).map(str::to_owned)
    }
}

/// Returns the folders of all agents' branches, and of the logs of these.
fn shared(common_folder: &Path) -> [PathBuf; 2] {
    ["refs/heads", "logs/refs/heads"].map(|parent| common_folder.join(parent).join(FOLDER))
}

/// Makes folders that stay. Git removes one once it has packed its branches, and with it an agent's mount point, or its right to
/// write there. It keeps folders that are not empty, and `.keep` is not a valid name of a branch.
fn keep(folders: &[&PathBuf]) -> Result<(), RunnerError> {
    for folder in folders {
        let kept = folder.join(KEEP);
        fs::create_dir_all(&kept).map_err(file_error("make", &kept))?;
    }
    Ok(())
}

/// The identity of an index file. Git replaces the file at each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexStamp {
    inode: u64,
    length_bytes: u64,
    modified: SystemTime,
}

/// The target of a worktree's `HEAD`.
enum Head {
    /// A commit: `HEAD` is detached.
    Commit(String),
    /// A branch that exists only in the agent's view, at this commit.
    Own(String),
    /// Any other branch, or nothing valid.
    Else,
}
