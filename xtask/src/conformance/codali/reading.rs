//! Requests, responses and judgements, without a workspace.

use codali_envelope::{
    Form, ReadLimits, ReadOptions, RequestId, Strictness, critic, read_request, read_response,
    render_response,
};
use serde_json::{Value, json};

use super::ours;
use crate::conformance::expected::{equal, expectations, holds, list, members, text};
use crate::conformance::problem::{Problem, ensure};

/// Reads a bare envelope. An error of the public implementation stands for any; one that is recommended has its code.
pub(super) fn parse(case: &Value) -> Result<(), Problem> {
    let input = &case["input"];
    let request = input.as_str().unwrap_or(text(&input["text"]));
    let default_request_id = input["default_request_id"].as_str().map(str::parse::<RequestId>).transpose()?;
    let options = ReadOptions { default_request_id, ..ReadOptions::default() };
    let read = read_request(request, &options);
    let strictly = ReadOptions { strictness: Strictness::Strict, ..options };
    let expected = ours(case);
    let is_recommended = *expected == case["expect"]["recommended"];
    for (key, expected) in expectations(expected)? {
        match (key, &read) {
            ("error", Err(error)) if is_recommended => equal(key, expected, &error.code().name().into())?,
            ("error", Err(_)) => {}
            ("error", Ok(reading)) => {
                return Err(Problem::new(format!("it was read as {}", json!(reading.request))));
            }
            (_, Err(error)) => return Err(Problem::new(error.to_string())),
            ("strict_error", _) => {
                let refused = read_request(request, &strictly).err().map(|error| error.code().name());
                equal(key, expected, &json!(refused))?;
            }
            ("ok", Ok(reading)) => holds("the request", expected, &json!(reading.request))?,
            ("warning_codes", Ok(reading)) => {
                let codes = reading.warnings.iter().map(|one| one.code().map(|code| code.name()));
                equal(key, expected, &codes.collect())?;
            }
            ("absent", Ok(reading)) => {
                let need = json!(reading.request.needs[0]);
                for absent in list(expected).iter().map(text) {
                    ensure(need[absent].is_null(), || format!("{absent} is {}", need[absent]))?;
                }
            }
            _ => return Err(Problem::unknown_key(key)),
        }
    }
    Ok(())
}

/// Judges what a builder has touched. The builder's own words are of no matter here.
pub(super) fn critic(case: &Value) -> Result<(), Problem> {
    let paths =
        |name: &str| list(&case["input"][name]).iter().map(|path| text(path).to_owned()).collect::<Vec<_>>();
    let targets = paths("plan_targets");
    let result = critic::check(&paths("touched"), &targets, &paths("allowed"), &paths("read_only"), "done");
    // The case has the time of its making in its place.
    let request_id: RequestId = "critic-<epoch ms>".parse()?;
    let mut actual = json!(result);
    actual["retryable"] = result.is_retryable().into();
    actual["follow_up_request"] = json!(critic::request(&targets, request_id.clone()));
    actual["meta_warnings"] = json!(result.into_response(request_id).meta.warnings);
    for (key, expected) in expectations(ours(case))? {
        holds(key, expected, &actual[key])?;
    }
    Ok(())
}

/// Writes a response as the public implementation does.
pub(super) fn response(case: &Value) -> Result<(), Problem> {
    let response = format!("CODALI_RESPONSE v1\n{}", case["input"]["response"]);
    let response = read_response(&response, &ReadLimits::for_responses())?;
    for (key, expected) in members(&case["expect"]) {
        match key {
            "peer_text" => equal(key, expected, &render_response(&response, Form::JsonBody).into())?,
            _ => return Err(Problem::unknown_key(key)),
        }
    }
    Ok(())
}
