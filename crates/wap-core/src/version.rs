//! The identity of a file's content.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The identity of a file's bytes at one moment: files with the same version hold the same bytes.
///
/// Opaque to callers; engines use the hexadecimal BLAKE3 hash of the content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct FileVersion(pub String);

impl fmt::Display for FileVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
