//! Why a text is not read as an envelope.

use crate::{Reading, WarningCode};

/// The longest piece of the offending line that an error shows, in characters.
const SHOWN_CHARACTERS: usize = 200;

/// Why a text is not read as a request or a response, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line_number}, column {column}: {kind}: {line:?}")]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// The line of the text, 1-based.
    pub line_number: u32,
    /// The character of that line, 1-based.
    pub column: u32,
    /// The line itself, cut at 200 characters.
    pub line: String,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// There is no envelope in the text.
    #[error("there is no envelope here")]
    NoRequest,
    /// There is a second envelope; the error's place is its place.
    #[error("a second envelope begins here")]
    MultipleEnvelopes,
    /// The envelope has no name that can be used, and the caller has none for it.
    #[error("request_id is missing, or is no text of up to 128 bytes without control characters")]
    MissingRequestId,
    /// No need can be answered.
    #[error("no need can be answered")]
    NoValidNeed {
        /// What was read nevertheless: a request without needs, and why each of them was rejected.
        reading: Box<Reading>,
    },
    /// The text is no YAML, or uses what envelopes do not (anchors, tags, repeated keys).
    #[error("this is no YAML of an envelope: {problem}")]
    InvalidYaml {
        /// What is wrong, as a fragment.
        problem: String,
    },
    /// A limit was passed.
    #[error("the envelope has more than {limit} {what}")]
    TooLarge {
        /// What there is too much of: `bytes`, `values`, `levels` or `needs`.
        what: &'static str,
        /// How much is read.
        limit: usize,
    },
}

impl ReadError {
    /// Makes an error about a place in a text; both numbers are 1-based.
    pub(crate) fn at(text: &str, kind: ReadErrorKind, line_number: u32, column: u32) -> ReadError {
        let line = text.lines().nth(line_number.saturating_sub(1) as usize).unwrap_or_default();
        ReadError { kind, line_number, column, line: line.chars().take(SHOWN_CHARACTERS).collect() }
    }

    /// Returns the code that says this in a response.
    #[must_use]
    pub fn code(&self) -> WarningCode {
        match self.kind {
            ReadErrorKind::NoRequest => WarningCode::NoRequest,
            ReadErrorKind::MultipleEnvelopes => WarningCode::MultipleEnvelopes,
            ReadErrorKind::MissingRequestId => WarningCode::MissingRequestId,
            ReadErrorKind::NoValidNeed { .. } => WarningCode::NoValidNeed,
            ReadErrorKind::InvalidYaml { .. } => WarningCode::InvalidYaml,
            ReadErrorKind::TooLarge { .. } => WarningCode::TooLarge,
        }
    }
}
