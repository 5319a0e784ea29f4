//! The record of an agent.

pub(crate) mod agent_confinement;
pub(crate) mod elsewhere;
pub(crate) mod store;

use std::path::PathBuf;

use cocode_env::{AgentName, AgentState, IssueNumber, IssueUrl, ReadyMarker, Verdict};
use serde::{Deserialize, Serialize};

use crate::plan::definition::AgentDefinition;
use crate::plan::{Reserved, RunRequest};
use crate::record::agent_confinement::AgentConfinement;
use crate::record::elsewhere::Elsewhere;
use crate::repository::Base;
use crate::repository::left_file::LeftFile;

/// The record of an agent. It exists from before anything is made for the agent until all of it is removed.
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
    /// The number of commits since the start.
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
    /// The conversation whose work it continues, by its name in the journal; its start commit holds the files of that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The commit at its worktree's `HEAD` when it had ended.
    pub head: Option<String>,
    /// The worktree's own folder in the repository, once it was made.
    pub git_folder: Option<PathBuf>,
    /// True if the agent writes its branch in a separate folder, from which the runner copies it to the repository.
    #[serde(default)]
    pub own_branches: bool,
    /// True if the agent also writes objects in a separate folder, from which the runner imports them.
    #[serde(default)]
    pub own_objects: bool,
    /// The run that it belongs to: the same for all agents that were started together.
    pub run: String,
    /// The start of the run, in milliseconds since 1970.
    pub recorded_at_ms: u64,
    /// The launch of its process, in milliseconds since 1970.
    pub launched_at_ms: Option<u64>,
    /// The end of its process and verdict, in milliseconds since 1970.
    pub ended_at_ms: Option<u64>,
    /// The confinement of its process, once it was launched on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<AgentConfinement>,
    /// The reason that it was not started, or a remark on how it ended.
    pub detail: Option<String>,
    /// Oddities that do not affect the verdict.
    pub warnings: Vec<String>,
    /// True if a clean worktree is part of the verdict.
    pub clean_tree: bool,
    /// The command that is part of the verdict.
    pub check: Option<String>,
    /// The files that this command left in the worktree. They do not keep the worktree from being removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_by_check: Vec<LeftFile>,
    /// True if this machine failed to import the agent's work, or to judge it, such as on a full disk. The next runner repeats it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub import_failed: bool,
    /// The facts about the other machine, if the agent runs on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
}

impl AgentRecord {
    /// Returns the record of an agent that is about to be started.
    pub(crate) fn new(
        request: &RunRequest,
        base: &Base,
        definition: &AgentDefinition,
        reserved: &Reserved,
        run: &str,
        began: u64,
    ) -> AgentRecord {
        AgentRecord {
            agent: definition.name.clone(),
            state: AgentState::Pending,
            verdict: None,
            branch: reserved.branch.clone(),
            worktree: reserved.worktree.clone(),
            commits: 0,
            exit_code: None,
            issue: request.issue,
            issue_url: reserved.context.issue_url.clone(),
            marker: request.marker.clone(),
            base: base.name.clone(),
            start_commit: base.commit.clone(),
            continues: request.continues.clone(),
            head: None,
            git_folder: None,
            own_branches: false,
            own_objects: false,
            run: run.to_owned(),
            recorded_at_ms: began,
            launched_at_ms: None,
            ended_at_ms: None,
            confinement: None,
            detail: None,
            warnings: Vec::new(),
            clean_tree: definition.clean_tree,
            check: definition.check.clone(),
            left_by_check: Vec::new(),
            import_failed: false,
            elsewhere: None,
        }
    }

    /// Returns whether another machine runs the agent, or will run it, and its work is not judged yet.
    pub fn is_pending_elsewhere(&self) -> bool {
        self.elsewhere.is_some() && !self.state.is_final()
    }

    /// Returns the runner's key for it: issue and name.
    pub fn key(&self) -> String {
        format!("{}-{}", self.issue, self.agent)
    }
}
