//! Merges wanted settings into others by key.

use serde_json::{Map, Value};

/// Replaces a value by the wanted one. Objects keep all other keys, at every depth.
pub(crate) fn merge(value: &mut Value, wanted: &Value) {
    match (value, wanted) {
        (Value::Object(fields), Value::Object(wanted)) => merge_fields(fields, wanted),
        (value, wanted) => *value = wanted.clone(),
    }
}

/// Sets the wanted keys of an object, and keeps the others.
pub(crate) fn merge_fields(fields: &mut Map<String, Value>, wanted: &Map<String, Value>) {
    for (key, wanted) in wanted {
        merge(fields.entry(key).or_insert(Value::Null), wanted);
    }
}
