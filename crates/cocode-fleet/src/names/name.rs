//! Names that are one token of a subject.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The greatest length of a name, in bytes.
pub const NAME_LIMIT: usize = 40;

/// A text that is not a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text is empty.
    #[error("a name needs at least one character")]
    Empty,
    /// The text is too long.
    #[error("a name has at most {NAME_LIMIT} characters")]
    TooLong,
    /// The text has a disallowed character.
    #[error("a name has letters, digits, '-' and '_' only, not {0:?}")]
    Character(char),
    /// The name of a task lacks its slash.
    #[error("the name of a task is RUN/AGENT")]
    NotATask,
}

fn check(text: &str) -> Result<(), NameError> {
    let is_allowed = |one: char| one.is_ascii_alphanumeric() || one == '-' || one == '_';
    match text.chars().find(|&one| !is_allowed(one)) {
        _ if text.is_empty() => Err(NameError::Empty),
        Some(other) => Err(NameError::Character(other)),
        None if text.len() > NAME_LIMIT => Err(NameError::TooLong),
        None => Ok(()),
    }
}

macro_rules! name {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        ///
        /// Invariant: 1 to 40 ASCII letters, digits, `-` and `_`, so that it is one token of a subject.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<$name, NameError> {
                check(text)?;
                Ok($name(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<$name, NameError> {
                check(&text)?;
                Ok($name(text))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a fleet; one server carries several.
    FleetName
);
name!(
    /// The name of a host, under which it writes and nothing else does.
    HostName
);
name!(
    /// The name of a run, unique within its fleet.
    RunName
);
name!(
    /// The name of an agent's instance within its run, or of an agent's definition.
    AgentName
);
name!(
    /// The class of a task: one label that a host must have, or `any`.
    ClassName
);

/// The default name of a fleet: `agentd`.
impl Default for FleetName {
    fn default() -> FleetName {
        FleetName("agentd".to_owned())
    }
}

impl ClassName {
    /// Returns the class of tasks that every host may take: `any`.
    #[must_use]
    pub fn any() -> ClassName {
        ClassName("any".to_owned())
    }
}
