//! The names of bundles.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The greatest length of a bundle, in bytes: 256 MiB.
pub const BUNDLE_LIMIT_BYTES: u64 = 256 << 20;

/// The bytes of a file that are hashed at a time.
const PIECE_BYTES: usize = 64 << 10;

/// The SHA-256 of a bundle's bytes, as 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BundleDigest(String);

/// A text that is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 64 lower-case hexadecimal digits")]
pub struct DigestError;

impl BundleDigest {
    /// Returns the digest as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the 32 bytes of a hash.
    pub(crate) fn from_hash(hash: &[u8]) -> BundleDigest {
        BundleDigest(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl FromStr for BundleDigest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<BundleDigest, DigestError> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for BundleDigest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<BundleDigest, DigestError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 64 && text.bytes().all(is_digit) { Ok(BundleDigest(text)) } else { Err(DigestError) }
    }
}

impl From<BundleDigest> for String {
    fn from(digest: BundleDigest) -> String {
        digest.0
    }
}

impl fmt::Display for BundleDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A bundle by its content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BundleName {
    /// The hash of its bytes.
    pub digest: BundleDigest,
    /// Its length in bytes, at most [`BUNDLE_LIMIT_BYTES`](crate::BUNDLE_LIMIT_BYTES).
    pub size_bytes: u64,
}

impl BundleName {
    /// Returns the name of a file's content.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<BundleName> {
        let (mut file, mut hash, mut size_bytes) = (File::open(path)?, Sha256::new(), 0);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(BundleName { digest: BundleDigest::from_hash(&hash.finalize()), size_bytes }),
                length => {
                    hash.update(&piece[..length]);
                    size_bytes += length as u64;
                }
            }
        }
    }
}
