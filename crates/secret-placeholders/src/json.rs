//! Masking every text of a value.

mod own_field;

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::own_field::is_own;

/// Returns a value with `mask` applied to every text. Field names stay, and so do versions, times and words of a type,
/// such as an error code: a file may have the same word as a password.
///
/// # Panics
///
/// If the value does not survive a round trip through JSON, which would be a bug of its type.
pub(crate) fn masked<T: Serialize + DeserializeOwned>(value: T, mask: &Mask<'_>) -> T {
    let plain = serde_json::to_value(&value).expect("answers are JSON");
    let mut json = plain.clone();
    if !mask_value(&mut json, mask) {
        return value;
    }
    // A replaced word of a type would be refused when read back, or silently become another.
    let is_stable = read_back::<T>(&plain, true).is_some();
    if let Some(masked) = read_back(&json, is_stable) {
        return masked;
    }
    let mut json = plain;
    mask_texts(&mut json, &mut Vec::new(), mask, &|json| read_back::<T>(json, is_stable).is_some());
    // Do not fall back to the value itself: it has secrets.
    read_back(&json, is_stable).expect("the same shape with other texts")
}

/// Calls `each` with every text of a value that [`masked`] may replace.
pub(crate) fn each_text<T: Serialize>(value: &T, each: &mut dyn FnMut(&str)) {
    visit(&serde_json::to_value(value).expect("answers are JSON"), each);
}

fn visit(json: &Value, each: &mut dyn FnMut(&str)) {
    match json {
        Value::String(text) => each(text),
        Value::Array(values) => values.iter().for_each(|value| visit(value, each)),
        Value::Object(fields) => {
            let foreign =
                fields.iter().filter(|(name, value)| !value.as_str().is_some_and(|text| is_own(name, text)));
            foreign.for_each(|(_, value)| visit(value, each));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Reads a value; `None` if it is refused or, with `if_same`, serializes differently.
fn read_back<T: Serialize + DeserializeOwned>(json: &Value, if_same: bool) -> Option<T> {
    let value = T::deserialize(json).ok()?;
    (!if_same || serde_json::to_value(&value).is_ok_and(|again| again == *json)).then_some(value)
}

/// Replaces the texts at and below a pointer one by one, except words whose replacement makes `is_readable` false.
fn mask_texts(
    json: &mut Value,
    path: &mut Vec<String>,
    mask: &Mask<'_>,
    is_readable: &dyn Fn(&Value) -> bool,
) {
    let pointer: String =
        path.iter().map(|name| format!("/{}", name.replace('~', "~0").replace('/', "~1"))).collect();
    let Some(here) = json.pointer_mut(&pointer) else { return };
    let names: Vec<String> = match here {
        Value::Array(values) => (0..values.len()).map(|index| index.to_string()).collect(),
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::String(text) => {
            if path.last().is_some_and(|name| is_own(name, text)) {
                return;
            }
            let Cow::Owned(masked) = mask(text) else { return };
            let plain = std::mem::replace(text, masked);
            // Only texts that can be such a word: a secret is not shown just because its field accepts no other text.
            let is_word = plain.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-'));
            if is_word
                && !is_readable(json)
                && let Some(Value::String(text)) = json.pointer_mut(&pointer)
            {
                *text = plain;
            }
            return;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return,
    };
    for name in names {
        path.push(name);
        mask_texts(json, path, mask, is_readable);
        path.pop();
    }
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
        // No short-circuit: every element is masked.
        Value::Array(values) => values.iter_mut().fold(false, |any, value| mask_value(value, mask) | any),
        Value::Object(fields) => {
            let foreign = |(name, value): &(&String, &mut Value)| {
                !value.as_str().is_some_and(|text| is_own(name, text))
            };
            fields.iter_mut().filter(foreign).fold(false, |any, (_, value)| mask_value(value, mask) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wap_core::{Reason, WapError};

    use super::*;

    #[test]
    fn no_value_that_a_file_has_chosen_replaces_a_version_or_a_time() {
        let version = "0123456789abcdef".repeat(4);
        let time = "2026-01-31T23:59:59.123Z";
        let mask: &Mask<'_> = &|text| Cow::Owned(text.replace(&version, "⟦v⟧").replace(time, "⟦t⟧"));
        let fields = json!({ "version": version, "lastModified": time, "content": version, "path": time });
        let expected = json!({ "version": version, "lastModified": time, "content": "⟦v⟧", "path": "⟦t⟧" });
        assert_eq!(masked(fields, mask), expected);
        // With a word of a type, the texts are replaced one by one.
        let error = WapError::new(Reason::Conflict, format!("it is {version}"))
            .with("currentVersion", version.as_str());
        let all: &Mask<'_> = &|text| Cow::Owned(text.replace(&version, "⟦v⟧").replace("CONFLICT", "⟦c⟧"));
        let error = masked(error.with("currentText", version.as_str()), all);
        assert_eq!(error.message(), "it is ⟦v⟧");
        let details = serde_json::to_value(&error).unwrap().to_string();
        assert!(details.contains(&version) && details.contains("\"currentText\":\"⟦v⟧\""), "{details}");
    }
}
