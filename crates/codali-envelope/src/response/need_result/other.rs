//! A result of unknown type or shape.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A result of unknown type or shape, preserved as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherResult {
    /// The type; empty if it has none.
    pub result_type: String,
    /// The other fields.
    pub fields: Map<String, Value>,
}

impl Serialize for OtherResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.result_type.is_empty() {
            map.serialize_entry("type", &self.result_type)?;
        }
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
