//! What happens while agents run.

use cocode_env::{AgentName, AgentState, LogLine};
use serde::Serialize;

use crate::record::AgentRecord;

/// Something that has happened to an agent.
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
    /// It is being asked to end.
    Stopping {
        /// The agent.
        agent: AgentName,
        /// What it will be then.
        state: AgentState,
    },
    /// It has ended, or was not started at all.
    Ended {
        /// What is known of it.
        #[serde(flatten)]
        record: Box<AgentRecord>,
    },
}

/// Watches agents. It is called from several threads and must not wait for long: an agent whose output is not taken
/// stands still.
pub trait RunObserver: Sync {
    /// Takes what has happened.
    fn event(&self, event: &RunEvent);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl RunObserver for Unobserved {
    fn event(&self, _: &RunEvent) {}
}
