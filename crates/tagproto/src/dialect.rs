//! The two interpretations of a reply's line numbers and file ends.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The rules for carrying out blocks, where the document and the expectations of users differ. Kept with the session.
///
/// Source: docs/tagproto.md, Carrying out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Line numbers refer to the version that was shown last, a created file ends with a newline, and long output keeps its
    /// head and its tail.
    #[default]
    Agentd,
    /// The rules of the first implementation: line numbers refer to the file at the time when the block is carried out, a created
    /// file has no newline after its last line, and long output keeps its head.
    CodingAgent,
}

impl Dialect {
    /// Both dialects, the default one first.
    pub const ALL: [Dialect; 2] = [Dialect::Agentd, Dialect::CodingAgent];

    /// Returns the name, as on the command line and in session files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Agentd => "agentd",
            Dialect::CodingAgent => "codingagent",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    /// Parses a name in lower case.
    ///
    /// # Errors
    ///
    /// [`UnknownDialect`] for anything else.
    fn from_str(name: &str) -> Result<Dialect, UnknownDialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name).ok_or(UnknownDialect)
    }
}

/// The error for a name that is not the name of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a dialect; there are agentd and codingagent")]
#[non_exhaustive]
pub struct UnknownDialect;
