//! The states of an agent and the ways between them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::exit_meaning::ExitMeaning;

/// What is known of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It has not been started yet.
    Pending,
    /// Its process is running.
    Running,
    /// It exited with 0 and every part of the verdict holds.
    Ready,
    /// It exited with 0, but is not ready.
    Completed,
    /// It exited with another code, or could not be started.
    Failed,
    /// Its time was up.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// Whoever watched it ended before it did; how it ended is not known.
    Lost,
}

impl AgentState {
    /// All states.
    pub const ALL: [AgentState; 8] = [
        AgentState::Pending,
        AgentState::Running,
        AgentState::Ready,
        AgentState::Completed,
        AgentState::Failed,
        AgentState::TimedOut,
        AgentState::Cancelled,
        AgentState::Lost,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            AgentState::Pending => "pending",
            AgentState::Running => "running",
            AgentState::Ready => "ready",
            AgentState::Completed => "completed",
            AgentState::Failed => "failed",
            AgentState::TimedOut => "timed_out",
            AgentState::Cancelled => "cancelled",
            AgentState::Lost => "lost",
        }
    }

    /// Whether an agent can go from this state to `next` in one step.
    pub fn can_become(self, next: AgentState) -> bool {
        use AgentState::{Cancelled, Completed, Failed, Lost, Pending, Ready, Running, TimedOut};
        match self {
            Pending => matches!(next, Running | Failed | Cancelled),
            Running => matches!(next, Ready | Completed | Failed | TimedOut | Cancelled | Lost),
            Ready | Completed | Failed | TimedOut | Cancelled | Lost => false,
        }
    }

    /// Whether nothing more will happen to it.
    pub fn is_final(self) -> bool {
        !matches!(self, AgentState::Pending | AgentState::Running)
    }

    /// Returns the state of an agent that exited; `is_ready` is its verdict.
    pub fn after_exit(meaning: ExitMeaning, is_ready: bool) -> AgentState {
        match meaning {
            ExitMeaning::Success if is_ready => AgentState::Ready,
            ExitMeaning::Success => AgentState::Completed,
            ExitMeaning::Timeout => AgentState::TimedOut,
            ExitMeaning::Interrupted => AgentState::Cancelled,
            ExitMeaning::Error
            | ExitMeaning::InvalidConfig
            | ExitMeaning::MissingDeps
            | ExitMeaning::Signal(_) => AgentState::Failed,
        }
    }
}

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
