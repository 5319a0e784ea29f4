//! The refusal to restore a text with placeholders.

use std::fmt;

use crate::marker::Marker;

/// The reason for which the values of a text cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The value of a placeholder was never kept: writing it would lose the value.
    NotKept(Marker),
    /// With its values, the text is longer than the caller accepts.
    TooLong {
        /// The most that the caller accepts.
        most_bytes: usize,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::NotKept(marker) => write!(
                formatter,
                "the value of {marker} was not kept, so it cannot be restored; leave its line as it is"
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
