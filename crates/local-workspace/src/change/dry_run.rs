//! A workspace that only computes changes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rel_path::RelPath;
use wap_core::{
    Call, CancelFlag, CommandObserver, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileState, FileStates, Moment, Origin, ReadFile,
    ReadFileResponse, Reason, Retention, SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse,
    WapError, Workspace, WorkspaceInfo,
};

use crate::change::held_versions::version;
use crate::change::plan::Plan;
use crate::change::planned_change::PlannedChange;
use crate::change::read_only;
use crate::engine::LocalWorkspace;

/// A [`LocalWorkspace`] that only computes changes, one on top of the other, and runs nothing.
///
/// It answers changes as the workspace itself would, with the files as they are now and as earlier calls would have
/// left them, and collects what each would do. Nothing is written to files or the journal, and nothing is answered from
/// the record. Commands are not run and answer [`Reason::Cancelled`].
///
/// [`read_file`](Workspace::read_file) sees planned changes. Listings and searches see the disk.
#[derive(Debug)]
pub struct DryWorkspace<'a> {
    workspace: &'a LocalWorkspace,
    work: Mutex<Work<'a>>,
}

#[derive(Debug)]
struct Work<'a> {
    plan: Plan<'a>,
    planned: Vec<PlannedChange>,
}

impl<'a> DryWorkspace<'a> {
    /// Starts with the files as they are.
    #[must_use]
    pub fn new(workspace: &'a LocalWorkspace) -> DryWorkspace<'a> {
        let plan = Plan::new(&workspace.root, &workspace.hidden, &workspace.held);
        DryWorkspace { workspace, work: Mutex::new(Work { plan, planned: Vec::new() }) }
    }

    /// Returns the effects of the changes so far, in order, without refused ones.
    pub fn into_planned(self) -> Vec<PlannedChange> {
        self.work.into_inner().unwrap_or_else(PoisonError::into_inner).planned
    }

    fn work(&self) -> MutexGuard<'_, Work<'a>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: &FileChange, number: u32, cancel: &CancelFlag) -> Result<FileChanged, WapError> {
        let mut work = self.work();
        let step = work.plan.change(change, cancel)?;
        if let Some(after) = &step.after {
            // Line numbers of this version can be followed as if it had been published.
            self.workspace.held.hold(after.hash, &after.bytes, Retention::Process);
        }
        let obeyed = self.workspace.root.policy().protected.reported(&step.path);
        work.planned.push(PlannedChange::of(&step).obeyed_by(obeyed).at_step(number));
        Ok(step.changed)
    }

    /// The canonical path of a file that the plan has changed, with its planned content.
    fn planned_file(&self, path: &RelPath) -> Option<(RelPath, Option<std::sync::Arc<[u8]>>)> {
        // The path of an existing file, symlinks followed, or else of the file that would be written.
        let canonical = self
            .workspace
            .root
            .canonical_path(path)
            .or_else(|_| self.workspace.root.write_target(path).map(|target| target.path));
        let stored = self.workspace.root.stored_path(&canonical.ok()?).ok()?;
        let work = self.work();
        let canonical = work.plan.planned_spelling(stored);
        let after = work.plan.after(&canonical)?.map(|present| present.bytes.clone());
        Some((canonical, after))
    }
}

impl Workspace for DryWorkspace<'_> {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.workspace.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.workspace.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        // A version that is shown is held in memory only: the journal gets no entry.
        let origin = Origin { retention: Retention::Process, ..call.origin.clone() };
        let call = &Call { origin: &origin, ..*call };
        let planned =
            self.workspace.root.parse_path(&request.path).ok().and_then(|path| self.planned_file(&path));
        match planned {
            None => self.workspace.read_file(call, request),
            Some((path, Some(bytes))) => self.workspace.read_planned(call, request, &path, &bytes),
            Some((path, None)) => {
                let text = format!("`{path}` does not exist");
                Err(WapError::new(Reason::FileNotFound, text).with("path", request.path.as_str()))
            }
        }
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.workspace.search_files(call, request)
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        let origin = Origin { retention: Retention::Process, ..call.origin.clone() };
        let mut states = self.workspace.file_states(&Call { origin: &origin, ..*call }, paths, since)?;
        for (path, state) in paths.iter().zip(&mut states.files) {
            let parsed = self.workspace.root.parse_path(path).ok();
            if let Some((path, bytes)) = parsed.and_then(|path| self.planned_file(&path)) {
                let version = bytes.map(|bytes| version(&change_journal::ContentHash::of(&bytes)));
                let path = path.to_string();
                *state =
                    version.map(|version| FileState { path, version: Some(version), has_changed: false });
            }
        }
        Ok(states)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        self.workspace.check_cancelled(call)?;
        if self.workspace.config.read_only {
            return Ok(changes.iter().map(|change| Err(read_only(change.path()))).collect());
        }
        let steps = call.origin.step..;
        Ok(steps.zip(changes).map(|(step, change)| self.change(change, step, call.cancel)).collect())
    }

    fn execute_command(
        &self,
        _: &Call<'_>,
        _: &ExecuteCommand,
        _: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        Err(WapError::new(Reason::Cancelled, "not run: this is a dry run"))
    }

    fn stop_process(&self, _: &Call<'_>, _: &StopProcess) -> Result<StopProcessResponse, WapError> {
        Err(WapError::new(Reason::Cancelled, "not stopped: this is a dry run"))
    }
}
