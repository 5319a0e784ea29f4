//! Changes that are carried out only on the files that they were planned on.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, FileVersion, Moment, ReadFile,
    ReadFileResponse, Reason, SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, WapError,
    Workspace, WorkspaceInfo,
};

use crate::engine::LocalWorkspace;

/// The files that changes were planned on, by canonical path: the version, or `None` if there was no file. Other paths
/// may have any content.
pub type ExpectedFiles = BTreeMap<String, Option<FileVersion>>;

/// A [`LocalWorkspace`] that refuses a change with [`Reason::Conflict`] if its file is not the expected one.
///
/// The comparison uses the bytes that the change replaces, which the exchange of the file compares once more: a file
/// that another program saves in between is not overwritten. A completed change becomes the expected state. Commands
/// and reads pass through.
#[derive(Debug)]
pub struct ExpectingWorkspace<'a> {
    workspace: &'a LocalWorkspace,
    expected: Mutex<ExpectedFiles>,
}

impl<'a> ExpectingWorkspace<'a> {
    /// Expects these files.
    #[must_use]
    pub fn new(workspace: &'a LocalWorkspace, expected: ExpectedFiles) -> ExpectingWorkspace<'a> {
        ExpectingWorkspace { workspace, expected: Mutex::new(expected) }
    }
}

impl LocalWorkspace {
    /// Carries out a batch and adds warnings for the caller. A change of an unexpected file is refused.
    pub(crate) fn change_expected(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
        expected: &ExpectedFiles,
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        let mut outcomes = self.change(call, changes, expected)?;
        let warnings = outcomes.iter_mut().flatten().find_map(|changed| match changed {
            FileChanged::Written(written) => Some(&mut written.warnings),
            FileChanged::Modified(modified) => Some(&mut modified.warnings),
            FileChanged::Deleted(_) => None,
        });
        if let Some(warnings) = warnings {
            warnings.extend(self.news(call));
        }
        Ok(outcomes)
    }
}

/// The refusal of a change whose file is no longer the expected one.
pub(crate) fn unexpected(path: &str, requested: &str) -> WapError {
    let text = format!("'{path}' has changed since this change was looked at; nothing was done to it");
    WapError::new(Reason::Conflict, text).with("path", requested)
}

impl Workspace for ExpectingWorkspace<'_> {
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
        self.workspace.read_file(call, request)
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
        self.workspace.file_states(call, paths, since)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        let mut expected = self.expected.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = self.workspace.change_expected(call, changes, &expected)?;
        for changed in answers.iter().flatten() {
            let (path, version) = match changed {
                FileChanged::Written(written) => (&written.path, written.version.clone()),
                FileChanged::Modified(modified) => (&modified.path, modified.version.clone()),
                FileChanged::Deleted(deleted) => (&deleted.path, None),
            };
            let is_known = version.is_some() || matches!(changed, FileChanged::Deleted(_));
            if is_known && let Some(expected) = expected.get_mut(path) {
                *expected = version;
            }
        }
        Ok(answers)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        self.workspace.execute_command(call, request, observer)
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        self.workspace.stop_process(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.workspace.end_conversation(conversation);
    }
}
