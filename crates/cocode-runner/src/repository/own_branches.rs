//! An agent's own view of the agents' branches.
//!
//! Git makes a commit on a branch by renaming a file in the folder of the branch, so that folder must be writable, and
//! whoever may write there may move and delete every branch in it. A confined agent therefore sees a folder of its own
//! in the place of the one that all agents' branches share, with its branch alone in it. What it makes of that branch is
//! carried over to the repository by the runner, and nothing else is.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use crate::error::RunnerError;
use crate::objects::object_import::ObjectImport;
use crate::repository::git::GitError;
use crate::repository::worktree::{OWN_FOLDER, Worktree, file_error};
use crate::repository::{Repository, closed_folder, foreign_file, head_log};

/// The folder of all agents' branches, in the repository's `refs/heads` and `logs/refs/heads`.
const FOLDER: &str = "cocode";

/// A folder with nothing in it.
const KEEP: &str = ".keep";

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
    /// The worktree's own folder.
    git_folder: PathBuf,
    /// The branch's name in these folders.
    name: String,
}

impl OwnBranches {
    /// Names the folders for a worktree with this branch. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, common_folder: &Path, branch: &str) -> OwnBranches {
        let own = worktree.git_folder.join(OWN_FOLDER);
        OwnBranches {
            heads: own.join("heads"),
            logs: own.join("logs"),
            shared_heads: common_folder.join("refs/heads").join(FOLDER),
            shared_logs: common_folder.join("logs/refs/heads").join(FOLDER),
            git_folder: worktree.git_folder.clone(),
            name: branch.strip_prefix("cocode/").unwrap_or(branch).to_owned(),
        }
    }

    /// Makes the folders, with the branch at `commit` in them.
    pub(crate) fn make(&self, commit: &str) -> Result<(), RunnerError> {
        for folder in [&self.heads, &self.logs] {
            closed_folder::make(folder).map_err(file_error("make", folder))?;
        }
        for folder in [&self.shared_heads, &self.shared_logs] {
            fs::create_dir_all(folder).map_err(file_error("make", folder))?;
        }
        // Git removes these folders when it has packed what is in them, and with the folder the agent's view of its own.
        // It removes none that is not empty, and this name is none of a branch.
        for folder in [&self.shared_heads, &self.shared_logs] {
            let kept = folder.join(KEEP);
            fs::create_dir_all(&kept).map_err(file_error("make", &kept))?;
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

    /// Removes what was made in the repository for all agents, where there are no branches of any left.
    pub(crate) fn remove_shared(common_folder: &Path) {
        for parent in ["refs/heads", "logs/refs/heads"] {
            let folder = common_folder.join(parent).join(FOLDER);
            let is_alone = fs::read_dir(&folder)
                .is_ok_and(|entries| entries.flatten().all(|entry| entry.file_name().as_os_str() == KEEP));
            if is_alone {
                // Whoever makes a branch there in this moment keeps the folder.
                let _ = fs::remove_dir(folder.join(KEEP)).and_then(|()| fs::remove_dir(folder));
            }
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

    /// Moves the repository's branch to where the agent's own is. Returns why that cannot be, if so. The agent's objects are
    /// the repository's own.
    pub(crate) fn carry_over(&self, repository: &Repository) -> Result<Option<&'static str>, GitError> {
        match self.way() {
            Ok(Some((at, tip))) => self.move_branch(repository, &at, &tip).map(|()| None),
            Ok(None) => Ok(None),
            Err(why) => Ok(Some(why)),
        }
    }

    /// The same where the agent's objects have to be brought to the repository first.
    pub(crate) fn carry_over_with(
        &self,
        repository: &Repository,
        import: &mut ObjectImport,
    ) -> Result<Option<&'static str>, RunnerError> {
        let (at, tip) = match self.way() {
            Ok(Some(way)) => way,
            Ok(None) => return Ok(None),
            Err(why) => return Ok(Some(why)),
        };
        if !import.bring(&tip)? {
            return Ok(Some("the commit that its branch is at is damaged or not there"));
        }
        self.move_branch(repository, &at, &tip)?;
        Ok(None)
    }

    /// From where to where the repository's branch has to go, if anywhere, or why it cannot.
    fn way(&self) -> Result<Option<(String, String)>, &'static str> {
        let Some(tip) = self.tip() else { return Err("its branch is at no commit any more") };
        let Some((at, action)) = head_log::last_entry(&self.shared_logs.join(&self.name)) else {
            return Err("somebody else has removed its branch");
        };
        if at == tip {
            return Ok(None);
        }
        if action != MOVED && !action.starts_with(CREATED) {
            return Err("somebody else has moved its branch");
        }
        Ok(Some((at, tip)))
    }

    fn move_branch(&self, repository: &Repository, at: &str, tip: &str) -> Result<(), GitError> {
        let reference = format!("refs/heads/{FOLDER}/{}", self.name);
        // Only from where it was left: whoever moves it in this moment is right.
        let arguments = ["update-ref", "-m", MOVED, &reference, tip, at];
        repository.git.run(repository.location(), &arguments).map(drop)
    }

    /// Leaves `HEAD` at the commit where the agent left it, if it is a branch that only the agent had.
    pub(crate) fn settle_head(&self, repository: &Repository, worktree: &Worktree) -> Result<(), GitError> {
        if let Head::Own(commit) = self.head() {
            let location = worktree.location(&repository.common_folder);
            repository.git.run(location, &["update-ref", "--no-deref", "-m", MOVED, "HEAD", &commit])?;
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

    /// The commit that `HEAD` is at, if it is at one by itself, or on a branch that only the agent has.
    pub(crate) fn head_commit(&self) -> Option<String> {
        match self.head() {
            Head::Commit(commit) | Head::Own(commit) => Some(commit),
            Head::Else => None,
        }
    }

    /// What tells that the worktree's index is another one than before; `None` if there is none.
    pub(crate) fn index_stamp(&self) -> Option<IndexStamp> {
        let found = self.git_folder.join("index").symlink_metadata().ok()?;
        Some(IndexStamp { inode: found.ino(), length_bytes: found.len(), modified: found.modified().ok()? })
    }

    fn head(&self) -> Head {
        let Ok(text) = foreign_file::read_short(&self.git_folder.join("HEAD"), LIMIT_BYTES) else {
            return Head::Else;
        };
        let text = text.trim_end();
        if Self::is_name(text) {
            return Head::Commit(text.to_owned());
        }
        let name = text
            .strip_prefix("ref: refs/heads/")
            .and_then(|name| name.strip_prefix(FOLDER)?.strip_prefix('/'));
        let name = name.filter(|name| *name != self.name);
        name.and_then(|name| self.commit_of(name)).map_or(Head::Else, Head::Own)
    }

    /// Whether a text is the whole name of an object.
    pub(crate) fn is_name(text: &str) -> bool {
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }

    fn commit_of(&self, name: &str) -> Option<String> {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(is_plain) {
            return None;
        }
        let text = foreign_file::read_short(&self.heads.join(name), LIMIT_BYTES).ok()?;
        Some(text.trim_end()).filter(|commit| Self::is_name(commit)).map(str::to_owned)
    }
}

/// Which index it is: git writes another file when it changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexStamp {
    inode: u64,
    length_bytes: u64,
    modified: SystemTime,
}

/// Where a worktree's `HEAD` is.
enum Head {
    /// At a commit.
    Commit(String),
    /// On a branch that only the agent has, at this commit.
    Own(String),
    /// On any other branch, or at nothing that makes sense.
    Else,
}
