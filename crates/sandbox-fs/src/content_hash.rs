//! The hash of a file's content.

use std::fmt;
use std::io::{self, Read};

/// The BLAKE3 hash of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes `content`.
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

    /// Wraps bytes that [`ContentHash::as_bytes`] returned.
    pub const fn from_bytes(bytes: [u8; 32]) -> ContentHash {
        ContentHash(bytes)
    }

    /// Returns the hash as bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// 64 lower-case hexadecimal digits.
impl fmt::Display for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ContentHash({self})")
    }
}
