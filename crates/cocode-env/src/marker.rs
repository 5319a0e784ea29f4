//! The ready marker.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The text that an agent puts into the message of its last commit when the work is done: one line, not blank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReadyMarker(String);

/// The error for a text that is not a valid marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MarkerError {
    /// The text is empty or blank.
    #[error("must not be empty")]
    Empty,
    /// The text has a line break or another control character, which a commit message does not preserve.
    #[error("must be one line without control characters")]
    NotOneLine,
    /// The text begins or ends with whitespace, which git strips from a commit message.
    #[error("must not begin or end with a blank")]
    Blanks,
}

impl ReadyMarker {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if `message` contains the marker as a fixed, case-sensitive string.
    pub fn is_in(&self, message: &str) -> bool {
        message.contains(&self.0)
    }
}

impl Default for ReadyMarker {
    /// `cocode ready for check`.
    fn default() -> ReadyMarker {
        ReadyMarker("cocode ready for check".to_owned())
    }
}

impl FromStr for ReadyMarker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<ReadyMarker, MarkerError> {
        if text.trim().is_empty() {
            Err(MarkerError::Empty)
        } else if text.contains(char::is_control) || text.contains(['\u{2028}', '\u{2029}']) {
            Err(MarkerError::NotOneLine)
        } else if text.trim() != text {
            Err(MarkerError::Blanks)
        } else {
            Ok(ReadyMarker(text.to_owned()))
        }
    }
}

impl TryFrom<String> for ReadyMarker {
    type Error = MarkerError;

    fn try_from(text: String) -> Result<ReadyMarker, MarkerError> {
        text.parse()
    }
}

impl From<ReadyMarker> for String {
    fn from(marker: ReadyMarker) -> String {
        marker.0
    }
}

impl fmt::Display for ReadyMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
