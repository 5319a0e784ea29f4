//! The questions of tools and prompts.

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, InputRequest};
use serde_json::{Value, json};
use wap_mcp::{Need, Outcome};

/// Returns a form for the person at the client.
///
/// # Errors
///
/// If the fields are none that a form can have.
pub(crate) fn form(message: &str, fields: Value, required: &[&str]) -> Result<InputRequest, ErrorData> {
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    request(json!({ "method": "elicitation/create", "params": params }))
}

/// Returns a question to the client's model.
///
/// # Errors
///
/// None that a text can cause.
pub(crate) fn for_model(question: &str, most_tokens: u32) -> Result<InputRequest, ErrorData> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": question } });
    let params = json!({ "messages": [message], "maxTokens": most_tokens });
    request(json!({ "method": "sampling/createMessage", "params": params }))
}

/// Returns the question for the client's roots.
///
/// # Errors
///
/// None.
pub(crate) fn for_roots() -> Result<InputRequest, ErrorData> {
    request(json!({ "method": "roots/list", "params": {} }))
}

/// Returns questions as the outcome of a step.
pub(crate) fn asks<T>(
    requests: impl IntoIterator<Item = (&'static str, InputRequest)>,
    state: Option<String>,
) -> Outcome<T> {
    let requests = requests.into_iter().map(|(name, request)| (name.to_owned(), request)).collect();
    Outcome::Asks(Need { requests, state })
}

/// Returns a text as the outcome of a tool.
pub(crate) fn says(text: impl Into<String>) -> Outcome<CallToolResult> {
    Outcome::Done(CallToolResult::success(vec![ContentBlock::text(text.into())]))
}

fn request(request: Value) -> Result<InputRequest, ErrorData> {
    serde_json::from_value(request).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
