//! The confinement in which an agent has run.

use sandbox_exec::{Level, SandboxReport};
use serde::{Deserialize, Serialize};

use crate::plan::definition::AgentDefinition;

/// The confinement of an agent's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentConfinement {
    /// The level, as `agentd doctor` names it.
    pub level: String,
    /// The network: `on`, `off`, or the names that it may connect to.
    pub network: String,
    /// The steps that are not in force, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl AgentConfinement {
    /// Returns what a launcher with this report gives an agent.
    pub(crate) fn of(report: &SandboxReport, definition: &AgentDefinition) -> AgentConfinement {
        AgentConfinement {
            level: report.level.to_string(),
            network: definition.network.to_string(),
            missing: report.missing.clone(),
        }
    }

    /// Returns whether a step is missing.
    pub fn is_lowered(&self) -> bool {
        self.level != Level::Full.to_string()
    }
}

impl std::fmt::Display for AgentConfinement {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "level {}, network {}", self.level, self.network)
    }
}
