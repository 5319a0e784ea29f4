//! `executeCommand`: a shell command, confined.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Denied, StartedProcess};

/// The prefix of the names under which `readFile` returns a command's whole output. No file of a workspace can have such a
/// name.
pub const OUTPUT_PREFIX: &str = "@output/";

/// Runs a shell command in the workspace.
///
/// Source: WAP 1.0, `executeCommand`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExecuteCommand {
    /// The text for `/bin/sh -c`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub command: String,
    /// Below the root; absent means the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// Milliseconds; absent means `maxExecutionTime`, at most one hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub timeout: Option<i64>,
    /// Variables added to the cleared environment: an object, or a list of objects with `name` and `value`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::tool::environment::read"
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "Option<crate::tool::environment::EnvironmentForm>",
            description = "Variables added to the cleared environment."
        )
    )]
    pub environment: Option<BTreeMap<String, String>>,
    /// Extension: the name of a process that is left running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// For adapters: the text by which the journal records the command, if it is not the command itself. Not in the schema.
    #[serde(default, rename = "recorded", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub recorded_command: Option<String>,
    /// Extension: with `background`, answer at this text in its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
}

/// The result of a command that ended by itself. A timeout, a cancellation and a refusal are errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExecuteCommandResponse {
    /// Standard output; invalid UTF-8 is U+FFFD. Head and tail around a marker line when it was cut.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Exit code, or 128 plus the signal's number.
    pub exit_code: i32,
    /// True if output was left out.
    pub is_output_truncated: bool,
    /// Run time in milliseconds.
    pub duration_ms: u64,
    /// Extension: the name of the signal that ended the shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Extension: the background process that was started; while it runs, the exit code is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<StartedProcess>,
    /// Extension: the name under which `readFile` gives the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_output: Option<String>,
    /// Extension: what really confined the command.
    #[serde(default)]
    pub sandbox: String,
    /// Extension: what the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Extension: what a command that failed was refused by its confinement, at most 20 entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
}
