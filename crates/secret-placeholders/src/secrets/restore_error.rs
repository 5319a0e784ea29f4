//! The refusal of a text with placeholders.

use std::fmt;

use crate::marker::Marker;

/// The refusal of a text into which values cannot be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The value of a placeholder was never kept: writing it would lose the value.
    NotKept(Marker),
    /// With its values, the text is longer than the caller takes.
    TooLong {
        /// The most that the caller takes.
        most_bytes: usize,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::NotKept(marker) => write!(
                formatter,
                "the value of {marker} was not kept, so it cannot be put back; leave its line as it is"
            ),
            RestoreError::TooLong { most_bytes } => {
                write!(
                    formatter,
                    "with the values of its placeholders, the text has more than {most_bytes} bytes"
                )
            }
        }
    }
}

impl std::error::Error for RestoreError {}
