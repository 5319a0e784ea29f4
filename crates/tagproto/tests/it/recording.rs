//! A workspace that takes down the calls made to it.

use std::sync::Mutex;

use memory_workspace::MemoryWorkspace;
use wap_core::{
    Call, CommandObserver, ExecuteCommand, ExecuteCommandResponse, ExploreFiles, ExploreFilesResponse,
    FileChange, FileChanged, ReadFile, ReadFileResponse, SearchFiles, SearchFilesResponse, WapError,
    Workspace, WorkspaceInfo,
};

/// Passes everything on to a workspace in memory and takes down the effects: the first step and what was asked for.
pub(crate) struct Recording {
    pub(crate) inner: MemoryWorkspace,
    pub(crate) effects: Mutex<Vec<String>>,
    /// What the whole of the next batch of changes answers instead of being passed on.
    pub(crate) next_batch_fails: Mutex<Option<WapError>>,
    /// What every change of the next batch answers instead of being passed on.
    pub(crate) next_changes_fail: Mutex<Option<WapError>>,
    /// What every change of the next batch answers instead of being passed on, as if it had been made.
    pub(crate) next_answers: Mutex<Option<FileChanged>>,
    /// What listings warn of that are not complete, `None` for complete ones.
    pub(crate) listing_warnings: Mutex<Option<Vec<String>>>,
}

impl Recording {
    pub(crate) fn of(inner: MemoryWorkspace) -> Recording {
        Recording {
            inner,
            effects: Mutex::default(),
            next_batch_fails: Mutex::default(),
            next_changes_fail: Mutex::default(),
            next_answers: Mutex::default(),
            listing_warnings: Mutex::default(),
        }
    }

    /// Returns what was taken down and begins anew.
    pub(crate) fn take_effects(&self) -> Vec<String> {
        std::mem::take(&mut self.effects.lock().unwrap())
    }
}

impl Workspace for Recording {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.inner.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        let response = self.inner.explore_files(call, request)?;
        match self.listing_warnings.lock().unwrap().clone() {
            None => Ok(response),
            Some(warnings) => Ok(ExploreFilesResponse { is_truncated: true, warnings, ..response }),
        }
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.inner.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.inner.search_files(call, request)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        let kind = |change: &FileChange| match change {
            FileChange::Write(write) => format!("write {}", write.path),
            FileChange::Modify(modify) => format!("modify {}", modify.path),
            FileChange::Delete(delete) => format!("delete {}", delete.path),
        };
        let kinds: Vec<String> = changes.iter().map(kind).collect();
        self.effects.lock().unwrap().push(format!("{}: {}", call.origin.step, kinds.join(", ")));
        if let Some(error) = self.next_batch_fails.lock().unwrap().take() {
            return Err(error);
        }
        if let Some(error) = self.next_changes_fail.lock().unwrap().take() {
            return Ok(changes.iter().map(|_| Err(error.clone())).collect());
        }
        if let Some(changed) = self.next_answers.lock().unwrap().take() {
            return Ok(changes.iter().map(|_| Ok(changed.clone())).collect());
        }
        self.inner.change_files(call, changes)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let timeout = request.timeout.unwrap();
        self.effects
            .lock()
            .unwrap()
            .push(format!("{}: run {} ({timeout} ms)", call.origin.step, request.command));
        self.inner.execute_command(call, request, observer)
    }
}
