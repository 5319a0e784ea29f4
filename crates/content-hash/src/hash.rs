//! The hash as a value.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// The BLAKE3 hash of some bytes, by which they are named.
///
/// Its text form is 64 lower-case hexadecimal digits; parsing accepts upper-case ones too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> ContentHash {
        ContentHash(*blake3::hash(content).as_bytes())
    }

    /// Hashes the rest of `reader`.
    ///
    /// # Errors
    ///
    /// Those of the reader.
    pub fn of_reader(reader: impl Read) -> io::Result<ContentHash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(ContentHash(*hasher.finalize().as_bytes()))
    }

    /// Wraps the 32 bytes of a hash that was computed before.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> ContentHash {
        ContentHash(bytes)
    }

    /// Returns the 32 bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ContentHash({self})")
    }
}

/// A text that is not the name of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a content hash has 64 hexadecimal digits")]
pub struct ContentHashError;

impl FromStr for ContentHash {
    type Err = ContentHashError;

    fn from_str(text: &str) -> Result<ContentHash, ContentHashError> {
        blake3::Hash::from_hex(text).map(|hash| ContentHash(*hash.as_bytes())).map_err(|_| ContentHashError)
    }
}
