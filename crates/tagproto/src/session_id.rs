//! The name of a session: eight hexadecimal digits.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The name of a session, for example `a1b2c3d4`: eight hexadecimal digits in lower case.
///
/// Source: bracket-tag protocol, Session ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId {
    bytes: [u8; 4],
}

impl SessionId {
    /// Length of the name in bytes.
    pub const LENGTH_BYTES: usize = 8;

    /// Returns the name for four random bytes.
    #[must_use]
    pub const fn from_random(bytes: [u8; 4]) -> SessionId {
        SessionId { bytes }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl FromStr for SessionId {
    type Err = MalformedSessionId;

    /// Parses eight digits in lower case.
    ///
    /// # Errors
    ///
    /// [`MalformedSessionId`] for anything else.
    fn from_str(text: &str) -> Result<SessionId, MalformedSessionId> {
        let lower_hex = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if text.len() != SessionId::LENGTH_BYTES || !text.as_bytes().iter().all(lower_hex) {
            return Err(MalformedSessionId);
        }
        let number = u32::from_str_radix(text, 16).expect("eight hexadecimal digits fit 32 bits");
        Ok(SessionId { bytes: number.to_be_bytes() })
    }
}

impl TryFrom<String> for SessionId {
    type Error = MalformedSessionId;

    fn try_from(text: String) -> Result<SessionId, MalformedSessionId> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.to_string()
    }
}

/// The error for a text that is not the name of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session is named by eight hexadecimal digits in lower case")]
#[non_exhaustive]
pub struct MalformedSessionId;
