//! The ready marker.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The text that the message of an agent's last commit holds when the work is done: one line, not blank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReadyMarker(String);

/// A text that cannot be a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MarkerError {
    /// It is empty or blank.
    #[error("must not be empty")]
    Empty,
    /// It has several lines, or another control character, which no commit message would bring back.
    #[error("must be one line without control characters")]
    NotOneLine,
    /// A space at either end would be lost in a commit message.
    #[error("must not begin or end with a blank")]
    Blanks,
}

impl ReadyMarker {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a message holds the marker: as a fixed string, case-sensitive, anywhere.
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
