//! The kinds of block and their names on the wire.

use std::{fmt, str::FromStr};

/// The kind of a block: one of the seven of the protocol, or STOP_PROCESS, which only the dialect `agentd` has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// Creates or overwrites a file.
    CreateFile,
    /// Replaces a range of lines.
    EditFile,
    /// Deletes a file; has no body and no closing tag.
    DeleteFile,
    /// Requests a file for the next outbox; has no body and no closing tag.
    ReadFile,
    /// Runs a shell command.
    RunCommand,
    /// Shows a text to the user.
    Message,
    /// Ends the task with a summary.
    Done,
    /// Ends a background process; has no body and no closing tag. Declared last, since the others index arrays of seven elements.
    StopProcess,
}

impl BlockKind {
    /// The seven kinds of the protocol, in the order of its reference.
    pub const ALL: [Self; 7] = [
        Self::CreateFile,
        Self::EditFile,
        Self::DeleteFile,
        Self::ReadFile,
        Self::RunCommand,
        Self::Message,
        Self::Done,
    ];

    /// Returns the name used in tags, for example `CREATE_FILE`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CreateFile => "CREATE_FILE",
            Self::EditFile => "EDIT_FILE",
            Self::DeleteFile => "DELETE_FILE",
            Self::ReadFile => "READ_FILE",
            Self::RunCommand => "RUN_COMMAND",
            Self::StopProcess => "STOP_PROCESS",
            Self::Message => "MESSAGE",
            Self::Done => "DONE",
        }
    }

    /// Returns the closing tag, for example `[/CREATE_FILE]`.
    ///
    /// DELETE_FILE, READ_FILE and STOP_PROCESS have none in the protocol; the returned tag is never searched for.
    #[must_use]
    pub const fn closing_tag(self) -> &'static str {
        match self {
            Self::CreateFile => "[/CREATE_FILE]",
            Self::EditFile => "[/EDIT_FILE]",
            Self::DeleteFile => "[/DELETE_FILE]",
            Self::ReadFile => "[/READ_FILE]",
            Self::RunCommand => "[/RUN_COMMAND]",
            Self::StopProcess => "[/STOP_PROCESS]",
            Self::Message => "[/MESSAGE]",
            Self::Done => "[/DONE]",
        }
    }

    /// Checks whether the block may have an effect on files or elsewhere, so that it must not be carried out twice.
    #[must_use]
    pub const fn acts(self) -> bool {
        !matches!(self, Self::ReadFile | Self::Message | Self::Done)
    }

    /// Checks whether the block has a body and thus needs its closing tag.
    #[must_use]
    pub const fn has_body(self) -> bool {
        !matches!(self, Self::DeleteFile | Self::ReadFile | Self::StopProcess)
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for BlockKind {
    type Err = UnknownBlock;

    /// Parses the name of one of the seven kinds in upper case, exactly as in a tag.
    ///
    /// # Errors
    ///
    /// [`UnknownBlock`] for anything else.
    fn from_str(name: &str) -> Result<Self, UnknownBlock> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(UnknownBlock)
    }
}

/// The error for a name that is not the name of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a block")]
#[non_exhaustive]
pub struct UnknownBlock;
