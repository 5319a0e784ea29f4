//! The part of a record that concerns an agent on another machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::definition::AgentDefinition;

/// The facts about an agent that runs on another machine. Only the runner of this machine judges its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The address of the machines that work together, for display.
    pub fleet: String,
    /// The run that the agent's task belongs to there.
    pub task: String,
    /// The machine that has the task, by its own account; `None` as long as none has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The number of the attempt. Deliveries of earlier attempts do not count.
    pub epoch: u64,
    /// The commit that was delivered, once its import into the repository has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<DeliveredHead>,
    /// The permissions of the check, which runs on this machine.
    pub check: CheckPermissions,
}

/// A commit that another machine has delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveredHead {
    /// Its full name.
    pub commit: String,
    /// True if the repository did not have it before this delivery, and no other agent has delivered it. It is recorded
    /// before the import, after which this can no longer be determined.
    pub is_new: bool,
}

/// The permissions of a check of delivered work: those of its agent's definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPermissions {
    /// Its deadline in seconds.
    pub timeout_seconds: u64,
    /// True if it is confined.
    pub is_confined: bool,
    /// The network, as for `--network`.
    pub network: String,
    /// Files and folders outside of the worktree that it may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
    /// Further files and folders that it may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
}

impl CheckPermissions {
    /// Returns the permissions of a definition with this deadline, without the values of its variables, since records are
    /// displayed and variables may be secrets.
    pub(crate) fn of(definition: &AgentDefinition, timeout_seconds: u64) -> CheckPermissions {
        CheckPermissions {
            timeout_seconds,
            is_confined: definition.is_confined,
            network: definition.network.to_string(),
            writable: definition.writable.clone(),
            readable: definition.readable.clone(),
        }
    }
}
