//! Masking every text of a value.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns a value with every text replaced that `mask` replaces. The names of fields stay.
///
/// # Panics
///
/// If the value is not read back from its own JSON, which would be a fault of its type.
pub(crate) fn masked<T: Serialize + DeserializeOwned>(value: T, mask: &Mask<'_>) -> T {
    let mut json = serde_json::to_value(&value).expect("answers are JSON");
    if !mask_value(&mut json, mask) {
        return value;
    }
    // Not the value itself if this fails: it has secrets.
    serde_json::from_value(json).expect("the same shape with other texts")
}

/// Masks one text.
pub(crate) type Mask<'m> = dyn for<'t> Fn(&'t str) -> Cow<'t, str> + 'm;

/// Returns true if something was replaced.
fn mask_value(value: &mut Value, mask: &Mask<'_>) -> bool {
    match value {
        Value::String(text) => match mask(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(masked) => {
                *text = masked;
                true
            }
        },
        // No short cut: every element is masked.
        Value::Array(values) => values.iter_mut().fold(false, |any, value| mask_value(value, mask) | any),
        Value::Object(fields) => {
            fields.iter_mut().fold(false, |any, (_, value)| mask_value(value, mask) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
