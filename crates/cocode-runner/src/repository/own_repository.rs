//! A confined agent's own view of the repository: its branches, its objects, and only its worktree.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::bundle::empty_folder;
use crate::error::{RunnerError, error_chain};
use crate::objects::loose_objects::reopen_all;
use crate::objects::object_import::{LIMIT, ObjectImport, has_whole};
use crate::objects::own_objects::OwnObjects;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::closed_folder;
use crate::repository::git::GitError;
use crate::repository::own_branches::OwnBranches;
use crate::repository::own_git_folder::OwnGitFolder;
use crate::repository::worktree::{OWN_FOLDER, Worktree, file_error};

/// The view of one agent that has its own file tree.
#[derive(Clone, Debug)]
pub(crate) struct OwnRepository {
    pub(crate) branches: OwnBranches,
    pub(crate) objects: OwnObjects,
    pub(crate) git_folder: OwnGitFolder,
    real_git_folder: PathBuf,
    /// The folder that replaces the one with the git folders of all worktrees. Git reads all of those, and fails at one that is
    /// just being made.
    worktrees: PathBuf,
    /// The real folder.
    all_worktrees: PathBuf,
    /// The folder that replaces the one with the files of other agents, and holds only its own.
    view: PathBuf,
}

impl OwnRepository {
    /// Returns the paths for a worktree with this branch. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, repository: &Repository, branch: &str) -> OwnRepository {
        let common_folder = &repository.common_folder;
        OwnRepository {
            branches: OwnBranches::of(worktree, common_folder, branch),
            objects: OwnObjects::of(worktree, common_folder),
            git_folder: OwnGitFolder::of(worktree),
            real_git_folder: worktree.git_folder.clone(),
            worktrees: worktree.git_folder.join(OWN_FOLDER).join("worktrees"),
            all_worktrees: common_folder.join("worktrees"),
            view: worktree.git_folder.join(OWN_FOLDER).join("view"),
        }
    }

    /// Makes the folders, with the branch at `commit` in them.
    pub(crate) fn make(&self, repository: &Repository, commit: &str) -> Result<(), RunnerError> {
        self.branches.make(commit)?;
        let own = self.worktrees.join(Path::new(self.real_git_folder.file_name().unwrap_or_default()));
        closed_folder::make(&own).map_err(file_error("make", &own))?;
        self.objects.make(repository)
    }

    /// Makes the folder that the agent sees instead of `folder`, which also holds the worktrees of others: with mount points for
    /// its worktree and the file with its issue.
    pub(crate) fn make_view(
        &self,
        folder: &Path,
        worktree: &Path,
        body_file: &Path,
    ) -> Result<(), RunnerError> {
        // The agent may have changed it before its check runs.
        reopen_all(&self.view);
        empty_folder::remove(&self.view).map_err(file_error("remove", &self.view))?;
        let inside = |path: &Path| path.strip_prefix(folder).map(|path| self.view.join(path)).ok();
        closed_folder::make(&self.view).map_err(file_error("make", &self.view))?;
        if let Some(worktree) = inside(worktree) {
            closed_folder::make(&worktree).map_err(file_error("make", &worktree))?;
        }
        match inside(body_file) {
            Some(file) => std::fs::write(&file, b"").map_err(file_error("make", &file)),
            None => Ok(()),
        }
    }

    /// Returns the folder without files of other agents.
    pub(crate) fn view(&self) -> &Path {
        &self.view
    }

    /// Returns pairs of an own folder and the folder that it replaces in the agent's view.
    pub(crate) fn replaced(&self) -> Vec<(PathBuf, PathBuf)> {
        let worktrees = (self.worktrees.clone(), self.all_worktrees.clone());
        let git_folder = (self.git_folder.path().to_owned(), self.real_git_folder.clone());
        [vec![worktrees, git_folder], self.branches.replaced(), self.objects.replaced()].concat()
    }

    /// Returns the read-only folders: the agent writes there only at the paths of the folders that they replace.
    pub(crate) fn read_only(&self) -> [PathBuf; 2] {
        // Resolved, because a rule for a symlink does not protect its target, and the repository's objects may be reached by one.
        let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
        [real(self.git_folder.runners()), real(self.objects.read_only())]
    }
}

/// Imports the work of an agent that has ended: its objects, its branch, its `HEAD`. A failure becomes a warning of the
/// record, and the verdict covers the rest; after a failure of this machine, the next runner repeats the import.
pub(crate) fn import_work(
    repository: &Repository,
    worktree: &Worktree,
    record: &mut AgentRecord,
) -> Result<(), RunnerError> {
    if !record.own_branches || !worktree.git_folder.is_dir() {
        return Ok(());
    }
    let own = OwnRepository::of(worktree, repository, &record.branch);
    if !record.own_objects {
        let moved = own.branches.move_to_tip(repository);
        warn(record, moved.map(|why| why.map(str::to_owned)).map_err(RunnerError::from))?;
        return warn(record, own.branches.settle_head().map(|()| None));
    }
    let mut import = last_import(repository, own.objects.clone(), record);
    import_objects(record, &mut import)?;
    let moved = own.branches.import_tip(repository, &mut import);
    warn(record, moved.map(|why| why.map(str::to_owned)))?;
    if let Some(commit) = own.branches.head_commit() {
        let imported = import.import_commit(&commit);
        if matches!(imported, Ok(true)) {
            warn(record, own.branches.settle_head().map(|()| None))?;
        }
        warn(record, imported.map(|_| None))?;
    }
    warn(record, import.finish().map(|()| None))
}

/// Returns whether the repository has the judged commit with all its files. An agent can make `HEAD` name an incomplete
/// commit.
pub(crate) fn is_whole(
    repository: &Repository,
    record: &AgentRecord,
    commit: &str,
) -> Result<bool, RunnerError> {
    let start = &record.start_commit;
    Ok(!record.own_objects
        || commit == start
        || has_whole(repository, commit, std::slice::from_ref(start), LIMIT)?)
}

/// Imports only the objects that a check has made: the index may name some of them.
pub(crate) fn import_check_objects(
    repository: &Repository,
    worktree: &Worktree,
    record: &mut AgentRecord,
) -> Result<(), RunnerError> {
    if !record.own_objects || !worktree.git_folder.is_dir() {
        return Ok(());
    }
    let objects = OwnObjects::of(worktree, &repository.common_folder).for_check();
    let mut import = last_import(repository, objects, record);
    let import_failed = record.import_failed;
    import_objects(record, &mut import)?;
    warn(record, import.finish().map(|()| None))?;
    // Repeating it would judge the agent again, without its check. Its own work is already imported.
    record.import_failed = import_failed;
    Ok(())
}

/// Returns the import for an agent that has ended, with one time limit for all of it, since the run waits for it.
fn last_import(repository: &Repository, objects: OwnObjects, record: &AgentRecord) -> ObjectImport {
    let mut import = ObjectImport::new(repository, objects, &record.start_commit);
    import.end_at(Instant::now() + LIMIT);
    import
}

fn import_objects(record: &mut AgentRecord, import: &mut ObjectImport) -> Result<(), RunnerError> {
    let left = import.import_all();
    let warning = |left: usize| format!("{left} of its objects are damaged, and not in the repository");
    warn(record, left.map(|left| (left > 0).then(|| warning(left))))
}

/// Records the reason or error of a failed import as a warning. A git that cannot be started remains an error, because
/// it is not the agent's fault.
fn warn(record: &mut AgentRecord, result: Result<Option<String>, RunnerError>) -> Result<(), RunnerError> {
    match result {
        Ok(why) => record.warnings.extend(why),
        Err(error @ RunnerError::Git(GitError::NotStarted(_))) => return Err(error),
        Err(error) => {
            record.import_failed |= error.is_of_this_machine();
            record.warnings.push(error_chain(&error));
        }
    }
    Ok(())
}
