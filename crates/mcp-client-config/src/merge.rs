//! Merging wanted settings into others by their keys.

use serde_json::{Map, Value};

/// Gives a value the wanted one. Objects keep the keys that are not wanted, at every depth.
pub(crate) fn merge(value: &mut Value, wanted: &Value) {
    match (value, wanted) {
        (Value::Object(fields), Value::Object(wanted)) => merge_fields(fields, wanted),
        (value, wanted) => *value = wanted.clone(),
    }
}

/// Gives an object the wanted keys, and keeps the others.
pub(crate) fn merge_fields(fields: &mut Map<String, Value>, wanted: &Map<String, Value>) {
    for (key, wanted) in wanted {
        merge(fields.entry(key).or_insert(Value::Null), wanted);
    }
}
