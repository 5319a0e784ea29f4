//! Why a text cannot be read as an outbox.

/// A text is no outbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} in line {line_number}")]
#[non_exhaustive]
pub struct OutboxError {
    /// What is wrong.
    pub kind: OutboxErrorKind,
    /// The line, 1-based; one more than there are lines if the text ends too early.
    pub line_number: usize,
}

/// What is wrong with a text that should be an outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxErrorKind {
    /// A line that must stand here does not.
    #[error("expected '{expected}'")]
    Expected {
        /// The line, or how it begins.
        expected: &'static str,
    },
    /// A line of the header has a value that cannot be, or that disagrees with another line.
    #[error("bad value of '{field}'")]
    BadHeader {
        /// The field.
        field: &'static str,
    },
    /// A line that has no place in its section.
    #[error("unexpected line")]
    Unexpected,
    /// A file whose end is missing.
    #[error("unclosed file")]
    UnclosedFile,
}
