//! What a confined agent has of the repository to itself: its branches and its objects.

use std::path::PathBuf;
use std::time::Instant;

use crate::error::{RunnerError, error_chain};
use crate::objects::object_import::{LIMIT, ObjectImport, has_whole};
use crate::objects::own_objects::OwnObjects;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::GitError;
use crate::repository::own_branches::OwnBranches;
use crate::repository::worktree::{OWN_FOLDER, Worktree};

/// What one agent has to itself, where it has a file tree of its own.
#[derive(Clone, Debug)]
pub(crate) struct OwnRepository {
    pub(crate) branches: OwnBranches,
    pub(crate) objects: OwnObjects,
    folder: PathBuf,
}

impl OwnRepository {
    /// Names the folders for a worktree with this branch. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, repository: &Repository, branch: &str) -> OwnRepository {
        let common_folder = &repository.common_folder;
        OwnRepository {
            branches: OwnBranches::of(worktree, common_folder, branch),
            objects: OwnObjects::of(worktree, common_folder),
            folder: worktree.git_folder.join(OWN_FOLDER),
        }
    }

    /// Makes the folders, with the branch at `commit` in them.
    pub(crate) fn make(&self, repository: &Repository, commit: &str) -> Result<(), RunnerError> {
        self.branches.make(commit)?;
        self.objects.make(repository)
    }

    /// Returns each folder with the one in whose place the agent sees it.
    pub(crate) fn replaced(&self) -> Vec<(PathBuf, PathBuf)> {
        [self.branches.replaced(), self.objects.replaced()].concat()
    }

    /// What of it the agent cannot change: it writes in these folders only where they are seen in the place of others.
    pub(crate) fn read_only(&self) -> [PathBuf; 2] {
        // Where they really are: what is reached over a link cannot be protected, and the repository's objects are in there.
        let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
        [real(self.folder.clone()), real(self.objects.read_only())]
    }
}

/// Takes over what an agent has made that has ended: its objects, its branch, its `HEAD`. What cannot be taken is among the
/// record's warnings, and the verdict is about the rest.
pub(crate) fn take_over(
    repository: &Repository,
    worktree: &Worktree,
    record: &mut AgentRecord,
) -> Result<(), RunnerError> {
    if !record.own_branches || !worktree.git_folder.is_dir() {
        return Ok(());
    }
    let own = OwnRepository::of(worktree, repository, &record.branch);
    if !record.own_objects {
        let carried = own.branches.carry_over(repository);
        warn(record, carried.map(|why| why.map(str::to_owned)).map_err(RunnerError::from))?;
        let settled = own.branches.settle_head(repository, worktree);
        return warn(record, settled.map(|()| None).map_err(RunnerError::from));
    }
    let mut import = last_import(repository, own.objects.clone(), record);
    take_objects(record, &mut import)?;
    let carried = own.branches.carry_over_with(repository, &mut import);
    warn(record, carried.map(|why| why.map(str::to_owned)))?;
    if let Some(commit) = own.branches.head_commit() {
        let brought = import.bring(&commit);
        if matches!(brought, Ok(true)) {
            let settled = own.branches.settle_head(repository, worktree);
            warn(record, settled.map(|()| None).map_err(RunnerError::from))?;
        }
        warn(record, brought.map(|_| None))?;
    }
    warn(record, import.finish().map(|()| None))
}

/// Whether the commit that is judged is there with its files: an agent has many ways to have `HEAD` name one that is not.
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

/// Takes objects alone: those that a check has made are in the index, perhaps.
pub(crate) fn take_objects_again(
    repository: &Repository,
    worktree: &Worktree,
    record: &mut AgentRecord,
) -> Result<(), RunnerError> {
    if !record.own_objects || !worktree.git_folder.is_dir() {
        return Ok(());
    }
    let objects = OwnObjects::of(worktree, &repository.common_folder).for_check();
    let mut import = last_import(repository, objects, record);
    take_objects(record, &mut import)?;
    warn(record, import.finish().map(|()| None))
}

/// What brings the objects of an agent that has ended. All of it has one end: somebody waits for it.
fn last_import(repository: &Repository, objects: OwnObjects, record: &AgentRecord) -> ObjectImport {
    let mut import = ObjectImport::new(repository, objects, &record.start_commit);
    import.end_at(Instant::now() + LIMIT);
    import
}

fn take_objects(record: &mut AgentRecord, import: &mut ObjectImport) -> Result<(), RunnerError> {
    let left = import.bring_all();
    let told = |left: usize| format!("{left} of its objects are damaged, and not in the repository");
    warn(record, left.map(|left| (left > 0).then(|| told(left))))
}

/// Notes why something could not be taken. That git does not start at all is no fault of the agent's.
fn warn(record: &mut AgentRecord, result: Result<Option<String>, RunnerError>) -> Result<(), RunnerError> {
    match result {
        Ok(why) => record.warnings.extend(why),
        Err(error @ RunnerError::Git(GitError::NotStarted(_))) => return Err(error),
        Err(error) => record.warnings.push(error_chain(&error)),
    }
    Ok(())
}
