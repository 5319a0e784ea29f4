//! An agent's worktree and branch.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::bundle::empty_folder;
use crate::error::RunnerError;
use crate::objects::{loose_objects, missing_objects};
use crate::repository::git::{GitError, GitLocation};
use crate::repository::own_git_folder::OwnGitFolder;
use crate::repository::tree_changes::SUBMODULE;
use crate::repository::{Repository, closed_folder, left_file, planted_links};

/// The folder of an agent's own view of the repository, in its worktree's git folder.
pub(crate) const OWN_FOLDER: &str = "cocode";

/// The folder with the repositories of submodules, in a worktree's git folder.
pub(crate) const MODULES: &str = "modules";

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
        if let Some(branch) = missing_objects::free_name(&repository.common_folder, branch) {
            return Err(RunnerError::BranchExists { branch });
        }
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
        if !self.is_in(common_folder) {
            return Ok(());
        }
        for folder in [&self.git_folder, &self.git_folder.join(OWN_FOLDER)] {
            closed_folder::close(folder).map_err(file_error("close", folder))?;
        }
        Ok(())
    }

    /// Moves the contents of an ended agent's copy of the git folder to the real one. Returns a warning for the user if links were
    /// removed, or if the copy has to stay.
    pub(crate) fn take_back(&self, common_folder: &Path) -> Result<Option<String>, RunnerError> {
        if self.is_in(common_folder) { OwnGitFolder::of(self).take_back() } else { Ok(None) }
    }

    /// Returns the file that names its git folder. Git writes this path without the links that lead to the worktree; a link at the
    /// worktree's own path could lead to another one.
    pub(crate) fn link(&self) -> PathBuf {
        let parent = self.path.parent().and_then(|parent| fs::canonicalize(parent).ok());
        let real = parent.zip(self.path.file_name()).map(|(parent, name)| parent.join(name));
        real.as_deref().unwrap_or(&self.path).join(".git")
    }

    /// Returns whether its git folder belongs to the repository. The path comes from a record or a worktree.
    pub(crate) fn is_in(&self, common_folder: &Path) -> bool {
        let all = fs::canonicalize(common_folder.join("worktrees")).ok();
        all.is_some() && self.git_folder.parent().and_then(|parent| fs::canonicalize(parent).ok()) == all
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

    /// Returns whether all of its files are committed, or permanently ignored.
    pub(crate) fn is_clean(&self, repository: &Repository) -> Result<bool, RunnerError> {
        Ok(left_file::find(repository, self)?.is_empty())
    }

    /// Returns the submodules with non-empty folders, and those whose repositories are in the worktree's git folder.
    pub(crate) fn used_submodules(&self, repository: &Repository) -> Result<Vec<PathBuf>, GitError> {
        let location = self.location(&repository.common_folder);
        let entries = repository.git.run_for_bytes(location, &["ls-files", "--stage", "-z"])?;
        let entries = entries.split(|byte| *byte == 0).filter(|entry| entry.starts_with(&SUBMODULE));
        let paths = entries.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
        let holds_anything = |path: &Path| fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_some());
        let mut used: Vec<PathBuf> = paths
            .map(|path| PathBuf::from(OsStr::from_bytes(path)))
            .filter(|path| holds_anything(&self.path.join(path)))
            .collect();
        if used.is_empty() {
            // Including renamed ones, which git does not find.
            let is_of_modules = |name: &OsStr| name.as_bytes().starts_with(MODULES.as_bytes());
            let entries = fs::read_dir(&self.git_folder).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name()).filter(|name| is_of_modules(name));
            used.extend(names.map(PathBuf::from));
        }
        Ok(used)
    }
}

/// Removes a worktree and its git folder in any state: locked, which git leaves when it is killed while making one, or damaged
/// so that git does not recognise it. The caller knows that the runner made them.
pub(crate) fn remove_by_force(
    repository: &Repository,
    path: &Path,
    git_folder: Option<&Path>,
) -> Result<(), RunnerError> {
    if path.symlink_metadata().is_ok() {
        let text = path.to_string_lossy();
        // Twice, for a locked one.
        let arguments = ["worktree", "remove", "--force", "--force", "--", &text];
        // After any other failure, both folders are removed below.
        if let Err(error @ GitError::NotStarted(_)) = repository.git.run(repository.location(), &arguments) {
            return Err(error.into());
        }
        loose_objects::reopen_all(path);
        empty_folder::remove(path).map_err(file_error("remove", path))?;
    }
    if let Some(folder) = git_folder {
        let all = fs::canonicalize(repository.common_folder.join("worktrees")).ok();
        let parent = folder.parent().and_then(|parent| fs::canonicalize(parent).ok());
        if all.is_some() && parent == all {
            empty_folder::remove(folder).map_err(file_error("remove", folder))?;
        }
    }
    Ok(())
}

/// Returns the parts of the shared objects that no commit writes: the packs, which hold the repository's history, and the
/// references to other repositories' objects.
pub(crate) fn kept_objects(common_folder: &Path) -> [PathBuf; 2] {
    ["objects/pack", "objects/info"].map(|name| common_folder.join(name))
}

/// Returns the folders that agents without their own views share: of objects, of all agents' branches, of their logs.
pub(crate) fn shared_folders(common_folder: &Path) -> [PathBuf; 3] {
    ["objects", "refs/heads/cocode", "logs/refs/heads/cocode"].map(|name| common_folder.join(name))
}

/// Returns a function that wraps an I/O error of the operation `what` on `path`.
pub(crate) fn file_error<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> RunnerError + 'a {
    move |source| RunnerError::File { what, path: path.to_owned(), source }
}
