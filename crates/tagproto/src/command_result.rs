//! What a block gave: the value that the journal keeps and that the next outbox shows.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{BlockKind, UnknownBlock};

/// What one block, or one malformed block, gave.
///
/// Serialized with exactly the members `commandType`, `summary`, `success` and `output`, and `denied` where a command was
/// refused something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// Which block it was.
    pub command_type: CommandType,
    /// What happened; of a failure also what to do next. One line, except where it quotes a command or a message.
    pub summary: String,
    /// Whether the block did what it says; a command succeeds with exit code 0.
    pub success: bool,
    /// What the command printed, or the text of the file that explains a failure; often empty.
    #[serde(default)]
    pub output: String,
    /// What a command was refused by its confinement, a line for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// The kind of a block as results name it: one of the seven, or a block that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommandType {
    /// A well-formed block.
    Block(BlockKind),
    /// A malformed block.
    ParseError,
}

impl CommandType {
    const PARSE_ERROR: &'static str = "PARSE_ERROR";

    /// Returns the name on the wire, for example `CREATE_FILE` or `PARSE_ERROR`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CommandType::Block(kind) => kind.name(),
            CommandType::ParseError => CommandType::PARSE_ERROR,
        }
    }
}

impl From<BlockKind> for CommandType {
    fn from(kind: BlockKind) -> CommandType {
        CommandType::Block(kind)
    }
}

impl fmt::Display for CommandType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for CommandType {
    type Err = UnknownBlock;

    /// Reads a name in upper case.
    ///
    /// # Errors
    ///
    /// [`UnknownBlock`] for anything but the eight names.
    fn from_str(name: &str) -> Result<CommandType, UnknownBlock> {
        if name == CommandType::PARSE_ERROR {
            return Ok(CommandType::ParseError);
        }
        name.parse().map(CommandType::Block)
    }
}

impl Serialize for CommandType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for CommandType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<CommandType, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
