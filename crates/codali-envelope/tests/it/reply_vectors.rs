//! The whole replies of `fixtures/vectors/envelope-replies.json`.

use codali_envelope::{ReadErrorKind, ReadOptions, extract_request};
use serde_json::{Value, json};

const REPLIES: &str = include_str!("../../../../fixtures/vectors/envelope-replies.json");

/// Returns whether `actual` contains everything in `expected`; it may have further keys.
pub(crate) fn holds(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.iter().all(|(key, value)| actual.get(key).is_some_and(|other| holds(value, other)))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(one, other)| holds(one, other))
        }
        _ => expected == actual,
    }
}

#[test]
fn every_reply_is_read_as_its_case_says() {
    let vectors: Value = serde_json::from_str(REPLIES).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 30);
    let mut wrong = Vec::new();
    for case in cases {
        let outcome = match extract_request(case["input"].as_str().unwrap(), &ReadOptions::default()) {
            Ok(reading) => json!({
                "request_id": reading.request.request_id,
                "needs": reading.request.needs,
                "warnings": reading.warnings.iter().map(|warning| warning.code().unwrap().name()).collect::<Vec<_>>(),
            }),
            Err(error) if error.kind == ReadErrorKind::NoRequest => json!({ "none": true }),
            Err(error) => json!({ "error": error.code().name() }),
        };
        if !holds(&case["expect"], &outcome) {
            wrong.push(format!("{}: {outcome}\n    instead of {}", case["name"], case["expect"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
