//! Tools that ask the client once, in both eras.

use rmcp::model::{CallToolResult, ErrorData, InputRequest, JsonObject};
use serde_json::{Value, json};
use wap_mcp::{ContributionCall, Outcome};

use super::questions::{asks, for_model, form, says};
use super::schemas;

/// The name of the only question.
const QUESTION: &str = "question";

/// Calls a tool; `None` if it is not one of these.
pub(super) fn call(
    call: &ContributionCall,
    name: &str,
    arguments: &JsonObject,
) -> Option<Result<Outcome<CallToolResult>, ErrorData>> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let question = match name {
        "test_sampling" => for_model(text("prompt"), 100),
        "test_missing_capability" => for_model("Which day is it?", 10),
        "test_elicitation" => {
            let field = |description: &str| json!({ "type": "string", "description": description });
            let fields =
                json!({ "username": field("User's response"), "email": field("User's email address") });
            form(text("message"), fields, &["username", "email"])
        }
        "test_streaming_elicitation" => {
            call.report(1.0, None, Some("about to ask"));
            form("What is your name?", json!({ "name": { "type": "string" } }), &["name"])
        }
        "test_elicitation_sep1034_defaults" => {
            form("Please review and update the form fields with defaults", schemas::defaults(), &[])
        }
        "test_elicitation_sep1330_enums" => {
            form("Please select options from the enum fields", schemas::choices(), &[])
        }
        _ => return None,
    };
    Some(question.map(|question| answered(call, question)))
}

/// Returns the client's answer, or asks for it.
fn answered(call: &ContributionCall, question: InputRequest) -> Outcome<CallToolResult> {
    let Some(answer) = call.answer(QUESTION) else { return asks([(QUESTION, question)], None) };
    if let Some(text) = answer["content"]["text"].as_str() {
        return says(format!("LLM response: {text}"));
    }
    let action = answer["action"].as_str().unwrap_or("none");
    says(format!("User response: action={action}, content={}", answer["content"]))
}
