//! The subject of a flow. It is kept with its steps, since other settings would lead to other steps.

use serde::{Deserialize, Serialize};

/// The subject of a flow and its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSettings {
    /// The user's task.
    pub task: String,
    /// The size of the agents' window, in tokens.
    pub context_tokens: u64,
    /// Files and folders that may be changed; none for all.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// Files and folders that must not be changed.
    #[serde(default)]
    pub read_only: Vec<String>,
    /// A shell command that is run, confined, after each round; a round does not pass if it fails.
    #[serde(default)]
    pub test: Option<String>,
    /// True if a librarian collects context first.
    #[serde(default)]
    pub has_librarian: bool,
    /// True if a critic agent judges in addition to the check.
    #[serde(default)]
    pub has_critic: bool,
}
