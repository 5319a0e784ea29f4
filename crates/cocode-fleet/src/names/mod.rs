//! The names that appear in subjects and keys, each checked once.

mod name;
mod subjects;

pub use name::{AgentName, ClassName, FleetName, HostName, NAME_LIMIT, NameError, RunName};
pub(crate) use subjects::{Bucket, BundleOwner, Subjects};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of one task: one agent of one run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskName {
    /// The run that the agent belongs to.
    pub run: RunName,
    /// The agent's instance within the run, such as `fixer-3`.
    pub agent: AgentName,
}

impl TaskName {
    /// Returns the name of an agent of a run.
    #[must_use]
    pub fn new(run: RunName, agent: AgentName) -> TaskName {
        TaskName { run, agent }
    }

    /// Returns the two last tokens of the task's subjects and keys: `RUN.AGENT`.
    pub(crate) fn tokens(&self) -> String {
        format!("{}.{}", self.run, self.agent)
    }

    /// Reads what [`TaskName::tokens`] made.
    pub(crate) fn from_tokens(text: &str) -> Option<TaskName> {
        let (run, agent) = text.split_once('.')?;
        Some(TaskName { run: run.parse().ok()?, agent: agent.parse().ok()? })
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.run, self.agent)
    }
}

impl FromStr for TaskName {
    type Err = NameError;

    /// Reads `RUN/AGENT`.
    fn from_str(text: &str) -> Result<TaskName, NameError> {
        let (run, agent) = text.split_once('/').ok_or(NameError::NotATask)?;
        Ok(TaskName { run: run.parse()?, agent: agent.parse()? })
    }
}
