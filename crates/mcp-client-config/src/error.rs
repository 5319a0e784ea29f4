//! The reasons why an entry is refused.

use std::io;

/// The reason why an entry was not put into a file. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The text is not in the format of the client, or has no safe position for the entry.
    #[error("it cannot be understood: {why}")]
    Unreadable {
        /// The fault, without a line of the text.
        why: String,
    },
    /// The entry is not an object, or holds a value that the format of the client does not have.
    #[error("the entry cannot be written: {why}")]
    InvalidEntry {
        /// The fault, without a value of the entry.
        why: String,
    },
    /// It is a file of the project, and a symbolic link leads out of the project.
    #[error("a symbolic link there leads out of the project")]
    LeadsOut,
    /// The file belongs to another user or group, which this process cannot give a new file to.
    #[error("it belongs to another user or group; run this as its owner")]
    OtherOwner,
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl ConfigError {
    pub(crate) fn unreadable(why: impl Into<String>) -> ConfigError {
        ConfigError::Unreadable { why: why.into() }
    }

    pub(crate) fn invalid_entry(why: impl Into<String>) -> ConfigError {
        ConfigError::InvalidEntry { why: why.into() }
    }
}
