//! Reading the expectations of a case, and comparing them.

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

/// Checks that what is expected is there: keys that are not expected may be there too, but no further items of a list.
pub(super) fn holds(what: &str, expected: &Value, actual: &Value) -> Result<(), Problem> {
    match (expected, actual) {
        (Value::Object(_), Value::Object(actual)) => members(expected).try_for_each(|(key, expected)| {
            holds(&format!("{what}.{key}"), expected, actual.get(key).unwrap_or(&Value::Null))
        }),
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            let mut pairs = expected.iter().zip(actual).enumerate();
            pairs.try_for_each(|(index, (expected, actual))| {
                holds(&format!("{what}[{index}]"), expected, actual)
            })
        }
        _ => equal(what, expected, actual),
    }
}

/// Judges a key with a predicate about a field, `stdout_contains` or `content_is` for instance; `None` if the key has no such
/// form, or the field is missing.
pub(super) fn derived(key: &str, expected: &Value, field: impl Fn(&str) -> Option<Value>) -> Option<bool> {
    let (name, verb) = key.rsplit_once('_')?;
    let (name, is_negated) = match name.strip_suffix("_not").or_else(|| name.strip_suffix("_must_not")) {
        Some(name) => (name, true),
        None => (name, false),
    };
    let actual = field(name)?;
    let texts = || if expected.is_array() { list(expected).to_vec() } else { vec![expected.clone()] };
    let every = |holds: &dyn Fn(&str, &str) -> bool| {
        actual.as_str().is_some_and(|actual| {
            texts().iter().all(|part| part.as_str().is_some_and(|part| holds(actual, part)))
        })
    };
    let number = |value: &Value| value.as_f64();
    let length = || match &actual {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let holds = match verb {
        "is" | "equals" => actual == *expected,
        "contains" | "contain" if is_negated => every(&|actual, part| !actual.contains(part)),
        "contains" | "contain" => every(&|actual, part| actual.contains(part)),
        "excludes" => every(&|actual, part| !actual.contains(part)),
        "starts" => every(&|actual, part| actual.starts_with(part)),
        "ends" => every(&|actual, part| actual.ends_with(part)),
        "len" | "length" => expected.as_u64() == u64::try_from(length()).ok(),
        "min" => number(&actual)? >= number(expected)?,
        "max" => number(&actual)? <= number(expected)?,
        _ => return None,
    };
    // Predicates about parts are negated part by part, above.
    Some(if is_negated && !verb.starts_with("contain") { !holds } else { holds })
}
