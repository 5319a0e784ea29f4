//! The reasons why an entry is refused.

use std::io;

/// The reason why an entry was not put into a file, which is unchanged.
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
    /// The present entry has an option for the server that the new one lacks.
    #[error("the entry there has the option {option}, which the new one would not have")]
    LosesOption {
        /// The option, without its value.
        option: String,
    },
    /// The file belongs to the project, and a symbolic link leads out of the project.
    #[error("a symbolic link there leads out of the project")]
    LeadsOut,
    /// A symbolic link there leads to nothing. Replacing it would disconnect its target from the client.
    #[error("a symbolic link there leads to nothing")]
    DanglingLink,
    /// The file or its folder belongs to another user, and this process cannot change the owner of a file.
    #[error("it belongs to another user")]
    OtherOwner,
    /// The file belongs to this user, and to a group that this process cannot set.
    #[error("it belongs to a group that this user is not a member of")]
    OtherGroup,
    /// The new file cannot have the access list of the old one.
    #[error("its access list cannot be kept: {0}")]
    AccessList(io::Error),
    /// Another program changed the file after it was read.
    #[error("another program has changed it in the meantime")]
    ChangedMeanwhile,
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl ConfigError {
    pub(crate) fn unreadable(why: impl Into<String>) -> ConfigError {
        ConfigError::Unreadable { why: why.into() }
    }

    pub(crate) fn not_a_file() -> ConfigError {
        ConfigError::unreadable("it is not a regular file")
    }

    pub(crate) fn invalid_entry(why: impl Into<String>) -> ConfigError {
        ConfigError::InvalidEntry { why: why.into() }
    }
}
