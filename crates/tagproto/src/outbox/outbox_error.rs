//! The errors of parsing an outbox.

/// A text that is not an outbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} in line {line_number}")]
#[non_exhaustive]
pub struct OutboxError {
    /// The kind of error.
    pub kind: OutboxErrorKind,
    /// The line, 1-based; one past the last line if the text ends too early.
    pub line_number: usize,
}

/// The kinds of error in a text that should be an outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxErrorKind {
    /// A required line is missing.
    #[error("expected '{expected}'")]
    Expected {
        /// The line, or its start.
        expected: &'static str,
    },
    /// A line of the header has an invalid value, or a value that contradicts another line.
    #[error("bad value of '{field}'")]
    BadHeader {
        /// The field.
        field: &'static str,
    },
    /// A line that does not belong to its section.
    #[error("unexpected line")]
    Unexpected,
    /// A file whose end is missing.
    #[error("unclosed file")]
    UnclosedFile,
}
