//! Names of layers.

use std::fmt;
use std::str::FromStr;

/// The beginning of the names of layers that were quarantined.
pub(crate) const QUARANTINED: &str = "kept-";

/// The name of a layer: 1 to 64 lower-case letters, digits and hyphens, a letter or digit first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerName(String);

/// The error for a text that is not a layer's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a layer's name has 1 to {} lower-case letters, digits and hyphens", LayerName::MAX_BYTES)]
pub struct NameRejected;

impl LayerName {
    /// The greatest length of a name, in bytes.
    pub const MAX_BYTES: usize = 64;

    /// Returns whether [`Layer::quarantine`](crate::Layer::quarantine) gave it.
    pub fn is_quarantined(&self) -> bool {
        self.0.starts_with(QUARANTINED)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LayerName {
    type Err = NameRejected;

    fn from_str(text: &str) -> Result<LayerName, NameRejected> {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = !text.starts_with('-') && (1..=LayerName::MAX_BYTES).contains(&text.len());
        if is_name && text.bytes().all(fits) { Ok(LayerName(text.to_owned())) } else { Err(NameRejected) }
    }
}

impl fmt::Display for LayerName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
