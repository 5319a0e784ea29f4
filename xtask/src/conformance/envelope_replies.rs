//! Whole replies of models, with or without a request in them.

use codali_envelope::{ReadErrorKind, ReadOptions, extract_request};
use serde_json::{Value, json};

use super::Outcome;
use super::expected::{expectations, holds, text};
use super::problem::Problem;

/// Finds the request and compares the listed keys. An unknown key fails the case.
pub(super) fn run(case: &Value) -> Outcome {
    check(case).into()
}

fn check(case: &Value) -> Result<(), Problem> {
    let actual = match extract_request(text(&case["input"]), &ReadOptions::default()) {
        Ok(reading) => json!({
            "request_id": reading.request.request_id,
            "needs": reading.request.needs,
            "warnings": reading.warnings.iter().map(|one| one.code().map(|code| code.name())).collect::<Vec<_>>(),
        }),
        Err(error) if error.kind == ReadErrorKind::NoRequest => json!({ "none": true }),
        Err(error) => json!({ "error": error.code().name() }),
    };
    for (key, expected) in expectations(&case["expect"])? {
        match key {
            "request_id" | "needs" | "warnings" | "none" | "error" => {
                holds(key, expected, actual.get(key).unwrap_or(&actual))?;
            }
            _ => return Err(Problem::unknown_key(key)),
        }
    }
    Ok(())
}
