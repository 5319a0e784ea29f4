//! Owns the types for documents: named values that are replaced as a whole.

use std::fmt;

use content_hash::ContentHash;

/// The version of a document. A later write to any document in the same journal has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentVersion(pub u64);

impl fmt::Display for DocumentVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A write to one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentWrite<'a> {
    /// Sets it, whether or not it exists.
    Put {
        /// Its name; slashes make folders for [`JournalReader::documents`](crate::JournalReader::documents).
        name: &'a str,
        /// Its whole value.
        bytes: &'a [u8],
    },
    /// Removes it, if it exists.
    Remove {
        /// Its name.
        name: &'a str,
    },
}

/// A document without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentHead {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: DocumentVersion,
    /// The hash of its value, which shows whether a file made from it is current.
    pub hash: ContentHash,
    /// The length of its value in bytes.
    pub length_bytes: u64,
}

/// A document with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// Name, version and hash.
    pub head: DocumentHead,
    /// Its whole value.
    pub bytes: Vec<u8>,
}
