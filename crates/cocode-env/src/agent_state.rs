//! The states of an agent and the transitions between them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::exit_meaning::ExitMeaning;

/// The state of an agent, as its runner recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Not started yet.
    Pending,
    /// The process is running.
    Running,
    /// Exited with 0, and every part of the verdict holds.
    Ready,
    /// Exited with 0, but a part of the verdict fails.
    Completed,
    /// Exited with another code, or could not be started.
    Failed,
    /// Stopped because it exceeded its timeout.
    TimedOut,
    /// Stopped by the user.
    Cancelled,
    /// The runner ended before the agent did, so its exit code is unknown.
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

    /// Returns true if an agent can change from this state to `next` in one step.
    pub fn can_become(self, next: AgentState) -> bool {
        use AgentState::{Cancelled, Completed, Failed, Lost, Pending, Ready, Running, TimedOut};
        match self {
            Pending => matches!(next, Running | Failed | Cancelled),
            Running => matches!(next, Ready | Completed | Failed | TimedOut | Cancelled | Lost),
            Ready | Completed | Failed | TimedOut | Cancelled | Lost => false,
        }
    }

    /// Returns true if the state never changes again.
    pub fn is_final(self) -> bool {
        !matches!(self, AgentState::Pending | AgentState::Running)
    }

    /// Returns the state of an agent after its process exited; `is_ready` is
    /// [`Verdict::ready`](crate::Verdict::ready).
    pub fn after_exit(meaning: ExitMeaning, is_ready: bool) -> AgentState {
        match meaning {
            // Only a clean exit consults the verdict: a marker committed before a crash does not count.
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
