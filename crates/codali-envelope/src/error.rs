//! Errors of reading envelopes.

use crate::{Reading, WarningCode};

/// The longest excerpt of the offending line in characters.
const EXCERPT_CHARACTERS: usize = 200;

/// The reason for which a text cannot be read as a request or a response, with its position.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line_number}, column {column}: {kind}: {line:?}")]
pub struct ReadError {
    /// The kind of error.
    pub kind: ReadErrorKind,
    /// The line of the text, 1-based.
    pub line_number: u32,
    /// The character of that line, 1-based.
    pub column: u32,
    /// An excerpt of the line, at most 200 characters.
    pub line: String,
}

/// The kinds of errors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text contains no envelope.
    #[error("no envelope found")]
    NoRequest,
    /// A line was meant as the header of a request, but is not valid.
    #[error(
        "the header is not understood: write \"AGENT_REQUEST v1\" on its own line, and nothing else on it"
    )]
    UnknownHeader,
    /// The text contains a second envelope, at the position of the error.
    #[error("a second envelope begins here")]
    MultipleEnvelopes,
    /// The envelope has no valid id, and the caller has no default.
    #[error("request_id is missing, empty, longer than 128 bytes, or has control characters")]
    MissingRequestId,
    /// The request has no valid need.
    #[error("the request has no valid need")]
    NoValidNeed {
        /// The rest of the request, with the rejected needs and their codes.
        reading: Box<Reading>,
    },
    /// The text is not YAML, or uses features that envelopes do not allow (anchors, tags, repeated keys).
    #[error("invalid YAML in the envelope: {problem}")]
    InvalidYaml {
        /// The problem, as a sentence fragment.
        problem: String,
    },
    /// The envelope exceeds a limit.
    #[error("the envelope has more than {limit} {what}")]
    TooLarge {
        /// The unit of the limit: `bytes`, `values`, `levels` or `needs`.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl ReadError {
    /// Creates an error about a position in a text; both numbers are 1-based.
    pub(crate) fn at(text: &str, kind: ReadErrorKind, line_number: u32, column: u32) -> ReadError {
        let line = text.lines().nth(line_number.saturating_sub(1) as usize).unwrap_or_default();
        ReadError { kind, line_number, column, line: line.chars().take(EXCERPT_CHARACTERS).collect() }
    }

    /// Returns the code of the error in a response.
    #[must_use]
    pub fn code(&self) -> WarningCode {
        match self.kind {
            ReadErrorKind::NoRequest | ReadErrorKind::UnknownHeader => WarningCode::NoRequest,
            ReadErrorKind::MultipleEnvelopes => WarningCode::MultipleEnvelopes,
            ReadErrorKind::MissingRequestId => WarningCode::MissingRequestId,
            ReadErrorKind::NoValidNeed { .. } => WarningCode::NoValidNeed,
            ReadErrorKind::InvalidYaml { .. } => WarningCode::InvalidYaml,
            ReadErrorKind::TooLarge { .. } => WarningCode::TooLarge,
        }
    }
}
