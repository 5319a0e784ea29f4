//! What is kept of an agent.

pub(crate) mod store;

use std::path::PathBuf;

use cocode_env::{AgentName, AgentState, IssueNumber, IssueUrl, ReadyMarker, Verdict};
use serde::{Deserialize, Serialize};

use crate::repository::left_file::LeftFile;

/// What is kept of an agent, from before anything is made for it until it is cleaned away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Its name.
    pub agent: AgentName,
    /// Its state.
    pub state: AgentState,
    /// The verdict, once it has ended.
    pub verdict: Option<Verdict>,
    /// Its branch.
    pub branch: String,
    /// Its worktree.
    pub worktree: PathBuf,
    /// How many commits it has made since the start.
    pub commits: u64,
    /// Its exit code; 124 and 130 stand for a timeout and a cancellation.
    pub exit_code: Option<i32>,
    /// The issue that it was given.
    pub issue: IssueNumber,
    /// The issue's address.
    pub issue_url: IssueUrl,
    /// The marker that it was given.
    pub marker: ReadyMarker,
    /// The branch that it started from.
    pub base: String,
    /// The commit that it started from.
    pub start_commit: String,
    /// The commit that its worktree was at when it had ended.
    pub head: Option<String>,
    /// The worktree's own folder in the repository, once it was made.
    pub git_folder: Option<PathBuf>,
    /// Whether it has its branch to itself, from where it is carried over to the repository.
    #[serde(default)]
    pub own_branches: bool,
    /// Whether it has its objects to itself as well, from where they are brought to the repository.
    #[serde(default)]
    pub own_objects: bool,
    /// The run that it belongs to: the same for all agents that were started together.
    pub run: String,
    /// When the run began, in milliseconds since 1970.
    pub recorded_at_ms: u64,
    /// When its process was launched, in milliseconds since 1970.
    pub launched_at_ms: Option<u64>,
    /// When it had ended, in milliseconds since 1970.
    pub ended_at_ms: Option<u64>,
    /// Why it could not be started, or what else is to be said.
    pub detail: Option<String>,
    /// What is odd about it although it counts.
    pub warnings: Vec<String>,
    /// Whether a clean worktree is part of the verdict.
    pub clean_tree: bool,
    /// The command that is part of the verdict.
    pub check: Option<String>,
    /// What that command has left in the worktree, so that it keeps nobody from removing it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_by_check: Vec<LeftFile>,
}

impl AgentRecord {
    /// Returns the key by which the runner knows it: issue and name.
    pub fn key(&self) -> String {
        format!("{}-{}", self.issue, self.agent)
    }
}
