//! The offer of a host, and the needs of a task that it does not meet.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{PROTOCOL_VERSION, Task};
use crate::names::{AgentName, ClassName};

/// Levels of confinement, from the weakest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// Nothing.
    #[default]
    None,
    /// Process groups and limits.
    Process,
    /// Landlock.
    Landlock,
    /// Namespaces.
    Namespaces,
    /// Everything.
    Full,
}

impl fmt::Display for Confinement {
    /// Writes the word that `agentd doctor` and command line options use for it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Confinement::None => "none",
            Confinement::Process => "process",
            Confinement::Landlock => "landlock",
            Confinement::Namespaces => "namespaces",
            Confinement::Full => "full",
        })
    }
}

/// The offer of a host at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOffer {
    /// The number of tasks that it works on at once.
    pub slots: usize,
    /// Its labels; it takes tasks of these classes, and those of `any`.
    #[serde(default)]
    pub labels: Vec<ClassName>,
    /// The level of confinement that was proved on it.
    #[serde(default)]
    pub confinement: Confinement,
    /// The definitions of agents that it has.
    #[serde(default)]
    pub agents: Vec<AgentName>,
    /// Free bytes on the file system of worktrees.
    #[serde(default)]
    pub free_disk_bytes: u64,
    /// The minimum of free bytes with which it takes a task.
    #[serde(default)]
    pub least_free_disk_bytes: u64,
}

/// The entry of a host in `hosts`, written only by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReport {
    /// Its offer.
    pub offer: HostOffer,
    /// The versions of messages that it reads: first and last.
    pub protocol: (u32, u32),
    /// The version of the program.
    #[serde(default)]
    pub version: String,
    /// The installation of the host: the same after a restart, another one on another machine.
    #[serde(default)]
    pub installation: String,
    /// The process, by a random word.
    #[serde(default)]
    pub session: String,
    /// Tasks that it works on.
    #[serde(default)]
    pub busy: usize,
    /// True while it takes no new tasks because a person asked for that.
    #[serde(default)]
    pub is_draining: bool,
    /// The reason why it takes no tasks at all, or skipped the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A need of a task that a host does not meet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unmet {
    /// The definition of its agent.
    Agent(AgentName),
    /// A label.
    Label(ClassName),
    /// A stronger confinement than the host's.
    Confinement {
        /// The task's.
        least: Confinement,
        /// The host's.
        offered: Confinement,
    },
    /// A message version that the host reads.
    Protocol(u32, u32),
    /// Free space.
    Disk,
}

impl fmt::Display for Unmet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Agent(name) => write!(formatter, "no definition of the agent {name}"),
            Unmet::Label(label) => write!(formatter, "not labelled {label}"),
            Unmet::Confinement { least, offered } => {
                write!(formatter, "confinement {offered}, and the task wants {least}")
            }
            Unmet::Protocol(first, last) => write!(formatter, "does not read protocol {first} to {last}"),
            Unmet::Disk => write!(formatter, "too little free disk"),
        }
    }
}

impl HostOffer {
    /// Returns the needs of a task that are not met here, with the versions of messages that the host reads.
    #[must_use]
    pub fn unmet(&self, task: &Task, reads: (u32, u32)) -> Vec<Unmet> {
        let mut unmet = Vec::new();
        if !self.agents.contains(&task.definition) {
            unmet.push(Unmet::Agent(task.definition.clone()));
        }
        let class = Some(&task.class).filter(|class| **class != ClassName::any());
        let labels = class.into_iter().chain(&task.labels).filter(|label| !self.labels.contains(label));
        unmet.extend(labels.cloned().map(Unmet::Label));
        if self.confinement < task.least_confinement {
            unmet.push(Unmet::Confinement { least: task.least_confinement, offered: self.confinement });
        }
        let (first, last) = task.protocol;
        if first > reads.1 || last < reads.0 {
            unmet.push(Unmet::Protocol(first, last));
        }
        if self.lacks_disk() {
            unmet.push(Unmet::Disk);
        }
        unmet
    }

    /// Returns whether the disk is too full to take any task.
    #[must_use]
    pub fn lacks_disk(&self) -> bool {
        self.free_disk_bytes < self.least_free_disk_bytes
    }

    /// Returns the classes from which the host takes tasks.
    #[must_use]
    pub fn classes(&self) -> Vec<ClassName> {
        let mut classes = vec![ClassName::any()];
        classes.extend(self.labels.iter().filter(|label| **label != ClassName::any()).cloned());
        classes
    }
}

impl HostReport {
    /// Returns the versions of messages that this crate reads.
    pub(crate) fn own_protocol() -> (u32, u32) {
        (PROTOCOL_VERSION, PROTOCOL_VERSION)
    }
}
