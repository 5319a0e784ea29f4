//! Reading what a case says, and comparing it.

use serde_json::Value;

use super::problem::{Problem, ensure};

/// Returns what a case expects, key by key; a case must expect something.
pub(super) fn expectations(expect: &Value) -> Result<impl Iterator<Item = (&str, &Value)>, Problem> {
    ensure(members(expect).next().is_some(), || "the case expects nothing".to_owned())?;
    Ok(members(expect))
}

/// Returns the members of an object; anything else has none.
pub(super) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(key, member)| (key.as_str(), member))
}

/// Returns the items of a list; anything else has none.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a text; anything else is empty.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Checks that something is what it should be.
pub(super) fn equal(what: &str, expected: &Value, actual: &Value) -> Result<(), Problem> {
    ensure(expected == actual, || format!("{what} is {actual}, but should be {expected}"))
}
