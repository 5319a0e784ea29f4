//! What an index is like.

use serde_json::{Value, json};
use wap_core::IndexState;

/// What an index is like at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexStatus {
    /// How complete it is.
    pub state: IndexState,
    /// Files that are known, texts or not.
    pub files: u64,
    /// Texts among them, which can be searched.
    pub texts: u64,
    /// The bytes of those texts.
    pub text_bytes: u64,
    /// What the store takes on the disk, in bytes.
    pub store_bytes: u64,
}

impl IndexStatus {
    /// The same as a JSON object with the names of the fields.
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
