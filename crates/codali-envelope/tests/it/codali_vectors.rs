//! The cases of `fixtures/vectors/codali.json` that need no workspace.

use codali_envelope::{
    Form, ReadLimits, ReadOptions, RequestId, Strictness, critic, read_request, read_response,
    render_response,
};
use serde_json::{Value, json};

use crate::reply_vectors::holds;

const CODALI: &str = include_str!("../../../../fixtures/vectors/codali.json");

pub(crate) fn cases(kind: &str) -> Vec<Value> {
    let mut vectors: Value = serde_json::from_str(CODALI).unwrap();
    let cases = vectors["cases"].as_array_mut().unwrap().drain(..);
    cases.filter(|case| case["name"].as_str().unwrap().starts_with(&format!("{kind}/"))).collect()
}

/// Returns the expected outcome: the recommendation of a case, or else the peer's behaviour.
fn expectation(case: &Value) -> Value {
    let recommended = &case["expect"]["recommended"];
    let has_data = recommended.as_object().is_some_and(|keys| keys.keys().any(|key| key != "note"));
    if has_data { recommended.clone() } else { case["expect"]["peer"].clone() }
}

#[test]
fn every_request_is_read_as_its_case_says() {
    let cases = cases("parse");
    assert!(cases.len() >= 80);
    let mut wrong = Vec::new();
    for case in cases {
        let text = case["input"].as_str().or_else(|| case["input"]["text"].as_str()).unwrap();
        let default = case["input"]["default_request_id"].as_str();
        let default_request_id = default.map(|text| text.parse::<RequestId>().unwrap());
        let options = ReadOptions { default_request_id, ..ReadOptions::default() };
        let expected = expectation(&case);
        let outcome = read_request(text, &options);
        let fits = match (&outcome, expected.get("error")) {
            (Err(_), Some(error)) if case["expect"]["recommended"]["error"].is_null() => error.is_string(),
            (Err(actual), Some(error)) => actual.code().name() == error,
            (Ok(reading), None) => {
                let request = serde_json::to_value(&reading.request).unwrap();
                let codes: Vec<_> = reading.warnings.iter().map(|one| one.code().unwrap().name()).collect();
                let absent = expected["absent"].as_array().cloned().unwrap_or_default();
                holds(&expected["ok"], &request)
                    && absent.iter().all(|key| request["needs"][0].get(key.as_str().unwrap()).is_none())
                    && expected.get("warning_codes").is_none_or(|expected| *expected == json!(codes))
            }
            _ => false,
        };
        let strictly = ReadOptions { strictness: Strictness::Strict, ..options.clone() };
        let refused = read_request(text, &strictly).err().map(|error| error.code().name());
        let fits = fits && expected.get("strict_error").is_none_or(|code| code.as_str() == refused);
        if !fits {
            wrong.push(format!("{}: {outcome:?}\n    instead of {expected}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_judgement_is_that_of_its_case() {
    let cases = cases("critic");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let list = |name: &str| -> Vec<String> {
            let items = case["input"][name].as_array().cloned().unwrap_or_default();
            items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
        };
        let targets = list("plan_targets");
        let result = critic::check(&list("touched"), &targets, &list("allowed"), &list("read_only"), "done");
        let mut actual = serde_json::to_value(&result).unwrap();
        actual["retryable"] = result.is_retryable().into();
        let request = critic::request(&targets, "critic-<epoch ms>".parse().unwrap());
        actual["follow_up_request"] = serde_json::to_value(request).unwrap();
        let response = result.into_response("critic-1".parse().unwrap());
        actual["meta_warnings"] = serde_json::to_value(&response.meta.warnings).unwrap();
        let expected = expectation(&case);
        assert!(holds(&expected, &actual), "{}: {actual}\n    instead of {expected}", case["name"]);
    }
}

#[test]
fn every_response_is_written_as_the_peer_writes_it() {
    let cases = cases("response");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let text = format!("CODALI_RESPONSE v1\n{}", case["input"]["response"]);
        let response = read_response(&text, &ReadLimits::for_responses()).unwrap();
        assert_eq!(render_response(&response, Form::JsonBody), case["expect"]["peer_text"]);
    }
}
