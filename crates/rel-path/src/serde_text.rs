//! Serialises paths as their [`Display`](core::fmt::Display) text.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::path::RelPath;

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RelPath, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        RelPath::parse(&text).map_err(D::Error::custom)
    }
}
