//! The events of a run.

use cocode_env::{AgentName, AgentState, LogLine};
use serde::Serialize;

use crate::record::AgentRecord;
use crate::record::agent_confinement::AgentConfinement;

/// An event of one agent.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// Its process is running.
    Started {
        /// The agent.
        agent: AgentName,
        /// Its branch.
        branch: String,
        /// Its worktree.
        worktree: std::path::PathBuf,
        /// Its confinement.
        confinement: AgentConfinement,
    },
    /// It has printed a line.
    Log {
        /// The agent.
        agent: AgentName,
        /// The line.
        #[serde(flatten)]
        line: LogLine,
    },
    /// It has made a commit.
    Commit {
        /// The agent.
        agent: AgentName,
        /// The commit.
        commit: String,
        /// The first line of its message.
        subject: String,
    },
    /// It was requested to end.
    Stopping {
        /// The agent.
        agent: AgentName,
        /// The state that it will end in.
        state: AgentState,
    },
    /// It has ended, or was not started at all.
    Ended {
        /// Its record.
        #[serde(flatten)]
        record: Box<AgentRecord>,
    },
}

/// Receives the events of agents. It is called from several threads and must return soon: an agent blocks until its
/// output is read.
pub trait RunObserver: Sync {
    /// Receives an event.
    fn event(&self, event: &RunEvent);
}

/// Ignores all events.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl RunObserver for Unobserved {
    fn event(&self, _: &RunEvent) {}
}
