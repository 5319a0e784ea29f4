//! The two ways in which a reply's line numbers and file ends are understood.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How blocks are carried out where the seed document and what users expect differ. Kept with the session.
///
/// Source: docs/tagproto.md, Executing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Line numbers mean the file as it was last shown, a created file ends with a newline, and long output keeps
    /// its head and its tail.
    #[default]
    Agentd,
    /// The original's: line numbers mean the file as it is when the block's turn comes, a created file has no newline
    /// after its last line, and long output keeps its head.
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

    /// Reads a name in lower case.
    ///
    /// # Errors
    ///
    /// [`UnknownDialect`] for anything else.
    fn from_str(name: &str) -> Result<Dialect, UnknownDialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name).ok_or(UnknownDialect)
    }
}

/// The error for a name that is no dialect's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a dialect; there are agentd and codingagent")]
#[non_exhaustive]
pub struct UnknownDialect;
