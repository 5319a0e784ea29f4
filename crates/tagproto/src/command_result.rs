//! The result of a block, as kept in the journal and shown in the next outbox.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{BlockKind, UnknownBlock};

/// The result of one block, well-formed or malformed.
///
/// Serialized with exactly the members `commandType`, `summary`, `success` and `output`, `notes` if there are any, and `denied`
/// if the confinement refused anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// The kind of the block.
    pub command_type: CommandType,
    /// The outcome, with advice for a failure. One line, unless it quotes a command or a message.
    pub summary: String,
    /// True if the block was carried out; a command succeeds with exit code 0.
    pub success: bool,
    /// The output of a command, or the text of the file that explains a failure; often empty.
    #[serde(default)]
    pub output: String,
    /// The workspace's notes about an effect that was not kept, cannot be undone, or influences other programs. One line each; in
    /// an outbox each is a line `[NOTE] effect: …` below the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The refusals of a command's confinement, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

impl CommandResult {
    /// Returns the output together with the notes as one text: each note is a line that begins with `note: `. They follow the
    /// output of a command and precede the changed lines of a file. In this text a command can print such a line itself; an
    /// outbox keeps the two apart.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        if self.notes.is_empty() {
            return Cow::Borrowed(&self.output);
        }
        let notes: String = self.notes.iter().map(|note| format!("note: {note}\n")).collect();
        let commands = [BlockKind::RunCommand, BlockKind::StopProcess].map(CommandType::Block);
        Cow::Owned(if !commands.contains(&self.command_type) {
            notes + &self.output
        } else if self.output.is_empty() || self.output.ends_with('\n') {
            self.output.clone() + &notes
        } else {
            format!("{}\n{notes}", self.output)
        })
    }

    /// Checks whether the model asks the user something: a message with a question mark.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.command_type == CommandType::Block(BlockKind::Message)
            && self.success
            && self.summary.contains('?')
    }
}

/// The kind of a block in a result, or a malformed block.
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

    /// Parses a name in upper case.
    ///
    /// # Errors
    ///
    /// [`UnknownBlock`] for anything but the names of blocks and PARSE_ERROR.
    fn from_str(name: &str) -> Result<CommandType, UnknownBlock> {
        if name == CommandType::PARSE_ERROR {
            return Ok(CommandType::ParseError);
        }
        if name == BlockKind::StopProcess.name() {
            return Ok(CommandType::Block(BlockKind::StopProcess));
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
