//! Cases of paste repair.

use std::collections::BTreeSet;

use serde_json::Value;
use tagproto::{Strictness, read};

use crate::conformance::Outcome;

/// Reads the paste with repair and compares blocks, repairs (a set) and the refusal. A case whose name begins with
/// `keep_` must also read the same strictly.
pub(crate) fn run(case: &Value) -> Outcome {
    let Some(input) = case["input"].as_str() else {
        return Outcome::Failed("the case has no input".to_owned());
    };
    let repaired = as_json(input, Strictness::Repair);
    let expected = &case["expect"];
    let refused = Outcome::compare("refused", &expected["refused"], &repaired["refused"]);
    let repairs = || {
        let (expected, actual) = (names(&expected["repairs"]), names(&repaired["repairs"]));
        Outcome::compare("repairs", &expected.into_iter().collect(), &actual.into_iter().collect())
    };
    let commands = || compare_commands(&expected["commands"], &repaired["commands"]);
    let strict = || {
        if !case["name"].as_str().is_some_and(|name| name.starts_with("keep_")) {
            return Outcome::Passed;
        }
        let strict = as_json(input, Strictness::Strict);
        Outcome::compare("the blocks with repair", &strict["commands"], &repaired["commands"])
    };
    refused.and(repairs).and(commands).and(strict)
}

fn as_json(input: &str, strictness: Strictness) -> Value {
    serde_json::to_value(read(input, strictness)).expect("a reply can be written as JSON")
}

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn compare_commands(expected: &Value, actual: &Value) -> Outcome {
    let (Some(expected), Some(actual)) = (expected.as_array(), actual.as_array()) else {
        return Outcome::Failed("the case, or the answer, has no list of blocks".to_owned());
    };
    let counted = Outcome::compare("the number of blocks", &expected.len().into(), &actual.len().into());
    let pairs = expected.iter().zip(actual).enumerate();
    pairs.fold(counted, |outcome, (index, (expected, actual))| {
        let fields = expected.as_object().into_iter().flatten();
        fields.fold(outcome, |outcome, (key, expected)| {
            outcome.and(|| Outcome::compare(&format!("{key} of block {index}"), expected, &actual[key]))
        })
    })
}
