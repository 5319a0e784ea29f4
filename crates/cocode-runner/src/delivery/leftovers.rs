//! The branch and worktree of a delivery whose judgement was interrupted.

use crate::error::RunnerError;
use crate::plan::body_file;
use crate::record::AgentRecord;
use crate::record::elsewhere::Elsewhere;
use crate::repository::worktree;
use crate::runner::{Runner, remove_if_there};

impl Runner {
    /// Frees the paths and the branch of a record. Before a first delivery, existing files there are not the runner's, which
    /// is an error. Afterwards they come from an interrupted judgement, and are removed, unless the record names the folder
    /// of another program.
    pub(super) fn clear_for_delivery(
        &self,
        record: &AgentRecord,
        elsewhere: &Elsewhere,
    ) -> Result<(), RunnerError> {
        if let Some(delivered) = &elsewhere.delivered
            && self.has_own_path(record)
        {
            self.remove_leftovers(record, &delivered.commit)?;
        }
        if self.repository.has_branch(&record.branch) {
            return Err(RunnerError::BranchExists { branch: record.branch.clone() });
        }
        let occupied = [record.worktree.clone(), body_file(&record.worktree)]
            .into_iter()
            .find(|path| path.symlink_metadata().is_ok());
        occupied.map_or(Ok(()), |path| Err(RunnerError::FolderExists { path }))
    }

    /// Removes the worktree of an interrupted judgement, and its branch if it is still at the delivered commit.
    fn remove_leftovers(&self, record: &AgentRecord, commit: &str) -> Result<(), RunnerError> {
        let repository = &self.repository;
        let path = &record.worktree;
        remove_if_there(&body_file(path))?;
        let git_folder = self.worktree_of(record).map(|worktree| worktree.git_folder);
        worktree::remove_by_force(repository, path, git_folder.as_deref())?;
        let reference = format!("refs/heads/{}", record.branch);
        if repository.commit(&reference).as_deref() == Some(commit) {
            repository
                .git
                .run(repository.location(), &["update-ref", "--no-deref", "-d", &reference, commit])?;
        }
        Ok(())
    }
}
