//! The role of an agent.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The role of an agent: one of the specification's five, or any text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Collects context.
    Librarian,
    /// Plans changes.
    Architect,
    /// Carries a plan out.
    Builder,
    /// Reviews changes.
    Critic,
    /// Turns a builder's answer into changes.
    Interpreter,
    /// Any other role; `unknown` for a request without one.
    Other(String),
}

impl Role {
    /// Returns the role of a request without one.
    #[must_use]
    pub fn unknown() -> Role {
        Role::Other("unknown".to_owned())
    }

    /// Returns the role's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Role::Librarian => "librarian",
            Role::Architect => "architect",
            Role::Builder => "builder",
            Role::Critic => "critic",
            Role::Interpreter => "interpreter",
            Role::Other(name) => name,
        }
    }
}

impl FromStr for Role {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Role, Infallible> {
        let roles = [Role::Librarian, Role::Architect, Role::Builder, Role::Critic, Role::Interpreter];
        let role = roles.into_iter().find(|role| role.name() == text);
        Ok(role.unwrap_or_else(|| {
            if text.trim().is_empty() { Role::unknown() } else { Role::Other(text.to_owned()) }
        }))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
