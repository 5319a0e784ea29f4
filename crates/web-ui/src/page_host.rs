//! The interface to the program that serves the page.

use cocode_runner::RunnerConfig;
use serde::Serialize;
use wap_core::{CancelFlag, TaskFile};
use workspace_host::Failure;

/// A program that serves the page.
pub trait PageHost: Send + Sync {
    /// Returns the command that starts the page, without options, such as `agentd ui`.
    fn command(&self) -> &'static str;

    /// Ranks the files that matter for a task, the most relevant first; empty if that is not possible.
    fn task_files(&self, task: &str, cancel: &CancelFlag) -> Vec<TaskFile>;

    /// Returns sentences for the model about the environment of its commands.
    fn surroundings(&self) -> Vec<String>;

    /// Reports what this machine can and cannot do. It may take seconds.
    fn findings(&self) -> Vec<Finding>;

    /// Returns the configuration of the runner of agents.
    ///
    /// # Errors
    ///
    /// The reason why agents cannot be used here.
    fn runner(&self) -> Result<RunnerConfig, Failure>;
}

/// Something that this machine can or cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject in a word or two.
    pub what: String,
    /// The judgement.
    pub state: FindingState,
    /// One or more sentences, with the remedy where there is one.
    pub detail: String,
}

/// The judgement of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingState {
    /// It works.
    Good,
    /// It works in part.
    Limited,
    /// It is missing.
    Missing,
}
