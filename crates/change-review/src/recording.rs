//! A workspace that keeps a list of the steps that were requested, with their answers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, Moment, ReadFile, ReadFileResponse,
    SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, WapError, Workspace, WorkspaceInfo,
};

use crate::tried::StepOutcome;

/// The request of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepRequest {
    /// A change of a file.
    Change(FileChange),
    /// A command.
    Command(ExecuteCommand),
}

/// The answer to a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepAnswer {
    /// The answer to a change of a file.
    Change(Result<FileChanged, WapError>),
    /// The answer to a command.
    Command(Result<ExecuteCommandResponse, WapError>),
}

/// A step that was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedStep {
    /// Its number within the run, 0-based.
    pub step: u32,
    /// The request.
    pub request: StepRequest,
    /// The answer, as the model reads it.
    pub answer: StepAnswer,
    /// The answer, for the reviewer.
    pub outcome: StepOutcome,
}

/// A workspace that forwards every call, and keeps the steps: changes of files, and commands.
#[derive(Debug)]
pub struct RecordingWorkspace<W> {
    below: W,
    steps: Mutex<Vec<RecordedStep>>,
}

impl<W: Workspace> RecordingWorkspace<W> {
    /// Wraps a workspace.
    pub fn new(below: W) -> RecordingWorkspace<W> {
        RecordingWorkspace { below, steps: Mutex::default() }
    }

    /// Returns the inner workspace and the steps in the order of their requests.
    pub fn into_parts(self) -> (W, Vec<RecordedStep>) {
        (self.below, self.steps.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn steps(&self) -> MutexGuard<'_, Vec<RecordedStep>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Workspace> Workspace for RecordingWorkspace<W> {
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
        let answers = self.below.change_files(call, changes)?;
        let recorded =
            (call.origin.step..).zip(changes.iter().zip(&answers)).map(|(step, (change, answer))| {
                let outcome = StepOutcome { step, ..StepOutcome::of_change(change, answer) };
                let (request, answer) =
                    (StepRequest::Change(change.clone()), StepAnswer::Change(answer.clone()));
                RecordedStep { step, request, answer, outcome }
            });
        self.steps().extend(recorded);
        Ok(answers)
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let answer = self.below.execute_command(call, request, observer);
        let step = call.origin.step;
        let outcome = StepOutcome { step, ..StepOutcome::of_command(&answer) };
        let request = StepRequest::Command(request.clone());
        let recorded = StepAnswer::Command(answer.clone());
        self.steps().push(RecordedStep { step, request, answer: recorded, outcome });
        answer
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        self.below.stop_process(call, request)
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        self.below.end_conversation(conversation);
    }
}
