//! The refusals of a command's confinement.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::WapError;

/// One refusal of a command's confinement, with the setting that would allow it.
///
/// Displays as one line, `connect 192.0.2.1:443 · network is off · --network on`, followed by `· N times`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Denied {
    /// The refused operation.
    pub what: String,
    /// The reason of the refusal.
    pub why: String,
    /// The setting that would allow it; absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    /// The number of refusals.
    pub count: u32,
}

impl Denied {
    /// The name of the detail of an error that holds a list of these.
    pub const DETAIL: &str = "denied";

    /// Returns the refusals in the error of a command that timed out, was cancelled or used too much memory.
    pub fn of_error(error: &WapError) -> Vec<Denied> {
        let entries = error.detail(Denied::DETAIL).and_then(Value::as_array).into_iter().flatten();
        entries.filter_map(|entry| Denied::deserialize(entry).ok()).collect()
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {}", self.what, self.why)?;
        if let Some(allow) = &self.allow {
            write!(f, " · {allow}")?;
        }
        if self.count > 1 { write!(f, " · {} times", self.count) } else { Ok(()) }
    }
}
