//! The id of a request.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The id of a request, which its response repeats: 1 to 128 bytes without control characters, not blank.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(String);

/// The error for a text that is not a valid id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request_id has between 1 and {LONGEST} bytes and no control characters", LONGEST = RequestId::LONGEST_BYTES)]
pub struct MalformedRequestId;

impl RequestId {
    /// The longest id in bytes.
    pub const LONGEST_BYTES: usize = 128;

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RequestId {
    type Err = MalformedRequestId;

    fn from_str(text: &str) -> Result<RequestId, MalformedRequestId> {
        let is_usable = !text.trim().is_empty()
            && text.len() <= RequestId::LONGEST_BYTES
            && !text.chars().any(char::is_control);
        if is_usable { Ok(RequestId(text.to_owned())) } else { Err(MalformedRequestId) }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
