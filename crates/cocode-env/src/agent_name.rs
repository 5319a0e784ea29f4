//! The name of an agent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of an agent: 1 to 40 letters (a to z), digits, `-` and `_`, so that it can be part of the name of a
/// branch, a folder and a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// The error for a text that is not a valid agent name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an agent's name is 1 to 40 letters, digits, '-' and '_', and does not begin with '-'")]
pub struct AgentNameError;

impl AgentName {
    /// The maximum number of characters that a name may have.
    pub const LIMIT: usize = 40;

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = AgentNameError;

    fn from_str(text: &str) -> Result<AgentName, AgentNameError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_name = (1..=AgentName::LIMIT).contains(&text.len())
            && text.bytes().all(is_allowed)
            // A name with a leading dash would be parsed as an option on a command line.
            && !text.starts_with('-');
        if is_name { Ok(AgentName(text.to_owned())) } else { Err(AgentNameError) }
    }
}

impl TryFrom<String> for AgentName {
    type Error = AgentNameError;

    fn try_from(text: String) -> Result<AgentName, AgentNameError> {
        text.parse()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> String {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
