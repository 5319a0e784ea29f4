//! Named background processes: their state in an answer of `executeCommand`, and `stopProcess`.

use serde::{Deserialize, Serialize};

use crate::{Denied, Reason, WapError};

/// The prefix of the names under which `readFile` returns the output of a background process. No file of a workspace can
/// have such a name.
pub const PROCESS_PREFIX: &str = "@process/";

/// The most background processes of one conversation that run at one time.
pub const MOST_PROCESSES: usize = 8;

/// The longest name of a background process, in bytes.
const MOST_NAME_BYTES: usize = 40;

/// The longest text that shows that a background process is ready, in bytes.
const MOST_READY_BYTES: usize = 1024;

/// Checks the name of a background process: 1 to 40 ASCII letters, digits, `-`, `_` and `.`, not beginning with a dot.
///
/// # Errors
///
/// [`Reason::InvalidField`] with the field's name in `details.field`.
pub fn check_process_name(name: &str, field: &str) -> Result<(), WapError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if (1..=MOST_NAME_BYTES).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_allowed) {
        return Ok(());
    }
    let text = format!(
        "a background process has a name of 1 to {MOST_NAME_BYTES} letters, digits, '-', '_' and '.', for example 'web'"
    );
    Err(WapError::new(Reason::InvalidField, text).with("field", field))
}

/// Checks the text that shows that a background process is ready. It is compared with every piece of the output, and quoted in
/// answers.
///
/// # Errors
///
/// [`Reason::InvalidField`] with the field's name in `details.field`.
pub fn check_ready_text(ready: &str) -> Result<(), WapError> {
    if ready.len() <= MOST_READY_BYTES {
        return Ok(());
    }
    let text = format!(
        "`ready` has at most {MOST_READY_BYTES} bytes: give a short text of the line that the process prints when it is ready"
    );
    Err(WapError::new(Reason::InvalidField, text).with("field", "ready"))
}

/// The state of a background process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ProcessState {
    /// It runs, and the text of `ready` has appeared.
    Ready,
    /// It runs; the text of `ready` has not appeared, or none was given.
    Running,
    /// It has ended.
    Ended,
}

/// The background process that an `executeCommand` has started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StartedProcess {
    /// Its name.
    pub name: String,
    /// Its state when the answer was given.
    pub state: ProcessState,
    /// The name under which `readFile` gives its output.
    pub output: String,
}

/// Ends a background process with everything that it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StopProcess {
    /// The name given as `background`.
    pub name: String,
}

/// The result of `stopProcess`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StopProcessResponse {
    /// The process's name.
    pub name: String,
    /// True if it had ended before it was to be stopped.
    pub had_ended: bool,
    /// Exit code, or 128 plus the signal's number; absent if it was killed because it did not end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Both of its output streams in the order in which they came. Head and tail around a marker line when it was cut.
    pub output: String,
    /// True if output was left out.
    pub is_output_truncated: bool,
    /// Run time in milliseconds.
    pub duration_ms: u64,
    /// Notes for the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The refusals of a process that failed by its confinement, at most 20 entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
}
