//! Tools that need something of their client, some of them several things or a state.

use rmcp::model::{CallToolResult, ErrorData};
use serde_json::{Value, json};
use wap_mcp::{ContributionCall, Outcome};

use super::questions::{asks, for_model, for_roots, form, says};

/// Calls a tool; `None` if it is not one of these.
pub(super) fn call(
    call: &ContributionCall,
    name: &str,
) -> Option<Result<Outcome<CallToolResult>, ErrorData>> {
    let outcome = match name.strip_prefix("test_input_required_result_")? {
        "elicitation" => elicitation(call),
        "sampling" => sampling(call),
        "list_roots" => list_roots(call),
        "request_state" | "tampered_state" => with_state(call),
        "multiple_inputs" => multiple_inputs(call),
        "multi_round" => multi_round(call),
        "capabilities" => capabilities(call),
        _ => return None,
    };
    Some(outcome)
}

fn elicitation(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    if let Some(name) = call.accepted_field("user_name", "name").and_then(Value::as_str) {
        return Ok(says(format!("Hello, {name}!")));
    }
    Ok(asks([("user_name", name_form("What is your name?")?)], None))
}

fn sampling(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    match call.answer("capital_question").and_then(|answer| answer["content"]["text"].as_str()) {
        Some(text) => Ok(says(format!("Sampling result: {text}"))),
        None => Ok(asks([("capital_question", for_model("What is the capital of France?", 100)?)], None)),
    }
}

fn list_roots(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    match call.answer("client_roots").and_then(|answer| answer["roots"].as_array()) {
        Some(roots) => Ok(says(format!("Found {} root(s)", roots.len()))),
        None => Ok(asks([("client_roots", for_roots()?)], None)),
    }
}

fn with_state(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    let is_consent = call.accepted_field("confirm", "ok") == Some(&Value::Bool(true));
    if call.state() == Some("waits for a consent") && is_consent {
        return Ok(says("state-ok: requestState validated"));
    }
    let question = form("Please confirm", json!({ "ok": { "type": "boolean" } }), &["ok"])?;
    Ok(asks([("confirm", question)], Some("waits for a consent".to_owned())))
}

fn multiple_inputs(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    let name = call.accepted_field("user_name", "name").and_then(Value::as_str);
    let greeting = call.answer("greeting").and_then(|answer| answer["content"]["text"].as_str());
    let roots = call.answer("client_roots").and_then(|answer| answer["roots"].as_array());
    if let (Some("three questions"), Some(name), Some(greeting), Some(roots)) =
        (call.state(), name, greeting, roots)
    {
        return Ok(says(format!("Name: {name}; Greeting: {greeting}; Roots: {}", roots.len())));
    }
    let questions = [
        ("user_name", name_form("What is your name?")?),
        ("greeting", for_model("Generate a greeting", 50)?),
        ("client_roots", for_roots()?),
    ];
    Ok(asks(questions, Some("three questions".to_owned())))
}

fn multi_round(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    let name = call.state().and_then(|state| state.strip_prefix("name:"));
    if let Some(name) = name {
        if let Some(color) = call.accepted_field("step2", "color").and_then(Value::as_str) {
            return Ok(says(format!("{name} likes {color}.")));
        }
        return second_round(name);
    }
    match call.accepted_field("step1", "name").and_then(Value::as_str) {
        Some(name) if call.state() == Some("first") => second_round(name),
        _ => {
            let question = name_form("Step 1: What is your name?")?;
            Ok(asks([("step1", question)], Some("first".to_owned())))
        }
    }
}

fn second_round(name: &str) -> Result<Outcome<CallToolResult>, ErrorData> {
    let fields = json!({ "color": { "type": "string" } });
    let question = form("Step 2: What is your favorite color?", fields, &["color"])?;
    Ok(asks([("step2", question)], Some(format!("name:{name}"))))
}

fn capabilities(call: &ContributionCall) -> Result<Outcome<CallToolResult>, ErrorData> {
    let all = [
        ("user_name", name_form("What is your name?")?),
        ("greeting", for_model("Generate a greeting", 50)?),
        ("client_roots", for_roots()?),
    ];
    let open: Vec<_> = all
        .into_iter()
        .filter(|(name, question)| call.can_ask(question) && call.answer(name).is_none())
        .collect();
    if open.is_empty() { Ok(says("There is nothing left to ask.")) } else { Ok(asks(open, None)) }
}

fn name_form(message: &str) -> Result<rmcp::model::InputRequest, ErrorData> {
    form(message, json!({ "name": { "type": "string" } }), &["name"])
}
