//! A workspace that answers steps with the answers of a trial.

use std::collections::BTreeMap;

use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, Moment, ReadFile, ReadFileResponse, Reason,
    SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, WapError, Workspace, WorkspaceInfo,
};

use crate::recording::{RecordedStep, StepAnswer};

/// A workspace for use after an overlay was adopted: changes and commands are not carried out again, but answered as
/// they were on the overlay. Everything else goes to the inner workspace.
#[derive(Debug)]
pub struct ReplayedWorkspace<W> {
    below: W,
    answers: BTreeMap<u32, StepAnswer>,
}

impl<W: Workspace> ReplayedWorkspace<W> {
    /// Wraps a workspace, with the answers of these steps.
    pub fn new(below: W, steps: &[RecordedStep]) -> ReplayedWorkspace<W> {
        let answers = steps.iter().map(|step| (step.step, step.answer.clone())).collect();
        ReplayedWorkspace { below, answers }
    }
}

fn unknown(step: u32) -> WapError {
    WapError::new(
        Reason::OutcomeUnknown,
        format!("step {step} was not among those that landed; nothing was done"),
    )
}

impl<W: Workspace> Workspace for ReplayedWorkspace<W> {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        self.below.workspace_info(call)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        self.below.explore_files(call, request)
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        self.below.read_file(call, request)
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        self.below.search_files(call, request)
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        self.below.file_states(call, paths, since)
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        let steps = call.origin.step..;
        let answers = steps.zip(changes).map(|(step, _)| match self.answers.get(&step) {
            Some(StepAnswer::Change(answer)) => answer.clone(),
            Some(StepAnswer::Command(_)) | None => Err(unknown(step)),
        });
        Ok(answers.collect())
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        _: &ExecuteCommand,
        _: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        match self.answers.get(&call.origin.step) {
            Some(StepAnswer::Command(answer)) => answer.clone(),
            Some(StepAnswer::Change(_)) | None => Err(unknown(call.origin.step)),
        }
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        self.below.stop_process(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.below.end_conversation(conversation);
    }
}
