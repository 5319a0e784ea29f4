//! Cases of kind parse: strict parsing of an inbox.

use serde_json::Value;
use tagproto::{Strictness, read};

use crate::conformance::Outcome;

/// Reads the inbox strictly and compares the blocks in their order; an error is compared as a prefix.
pub(crate) fn run(case: &Value) -> Outcome {
    let Some(inbox) = case["input"]["inbox"].as_str() else {
        return Outcome::Failed("the case has no inbox".to_owned());
    };
    let Some(expected) = case["expect"].as_array() else {
        return Outcome::Failed("the case expects nothing".to_owned());
    };
    let reply = read(inbox, Strictness::Strict);
    let actual = match serde_json::to_value(&reply.items) {
        Ok(Value::Array(actual)) => actual,
        other => return Outcome::Failed(format!("the items as JSON are {other:?}")),
    };
    let counted = Outcome::compare("the number of blocks", &expected.len().into(), &actual.len().into());
    expected.iter().zip(&actual).enumerate().fold(counted, |outcome, (index, (expected, actual))| {
        outcome.and(|| compare_block(index, expected, actual))
    })
}

fn compare_block(index: usize, expected: &Value, actual: &Value) -> Outcome {
    let Some(fields) = expected.as_object() else {
        return Outcome::Failed(format!("block {index} of the case is not an object"));
    };
    fields.iter().fold(Outcome::Passed, |outcome, (key, expected)| {
        outcome.and(|| {
            let name = match key.as_str() {
                "t" => "type",
                "start" => "start_line",
                "end" => "end_line",
                other => other,
            };
            let actual = &actual[name];
            let is_prefix = || {
                expected.as_str().zip(actual.as_str()).is_some_and(|(prefix, text)| text.starts_with(prefix))
            };
            if name == "error" && is_prefix() {
                return Outcome::Passed;
            }
            Outcome::compare(&format!("{name} of block {index}"), expected, actual)
        })
    })
}
