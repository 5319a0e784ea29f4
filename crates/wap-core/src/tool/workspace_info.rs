//! `getWorkspaceInfo`: the workspace and its limits.

use serde::{Deserialize, Serialize};

use crate::Limits;

/// The workspace, its default exclusions and its limits.
///
/// Source: WAP 1.0, `getWorkspaceInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceInfo {
    /// Absolute path of the root.
    pub root: String,
    /// The globs that recursive operations leave out when a request names none.
    pub default_exclusions: Vec<String>,
    /// The hard limits.
    pub limits: Limits,
    /// Extension: what confines commands.
    #[serde(default)]
    pub sandbox: String,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
