//! The status of an index.

use serde_json::{Value, json};
use wap_core::IndexState;

/// The state and size of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexStatus {
    /// The completeness.
    pub state: IndexState,
    /// The number of indexed files, texts or not.
    pub files: u64,
    /// The number of searchable texts among them.
    pub texts: u64,
    /// The total size of those texts in bytes.
    pub text_bytes: u64,
    /// The size of the store on disk in bytes.
    pub store_bytes: u64,
}

impl IndexStatus {
    /// Returns a JSON object with the fields.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "state": self.state,
            "files": self.files,
            "texts": self.texts,
            "text_bytes": self.text_bytes,
            "store_bytes": self.store_bytes,
        })
    }
}
