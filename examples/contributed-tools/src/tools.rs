//! The tools: those that answer at once, and those that ask the client first.

mod asking;
mod input_required;
mod logging;
mod plain;
pub(crate) mod questions;
mod schemas;

use std::sync::Arc;

use rmcp::model::{CallToolResult, ErrorData, JsonObject, Tool};
use serde_json::{Value, json};
use wap_mcp::{ContributionCall, Outcome};

use crate::resources::WatchedResource;

/// The tools without arguments, with their descriptions.
const BARE: [(&str, &str); 22] = [
    ("test_simple_text", "Answers with a text"),
    ("test_image_content", "Answers with a picture"),
    ("test_audio_content", "Answers with a sound"),
    ("test_embedded_resource", "Answers with a resource"),
    ("test_multiple_content_types", "Answers with a text, a picture and a resource"),
    ("test_error_handling", "Fails"),
    ("test_tool_with_progress", "Reports progress three times"),
    ("test_tool_with_logging", "Writes three log messages, one after another"),
    ("test_logging_tool", "Writes log messages of three levels"),
    ("test_change_watched_resource", "Changes the resource test://watched-resource"),
    ("test_elicitation_sep1034_defaults", "Asks with a form that has default values"),
    ("test_elicitation_sep1330_enums", "Asks with a form that has choices of all kinds"),
    ("test_missing_capability", "Asks the client's model, which not every client has"),
    ("test_streaming_elicitation", "Asks for a name after it has reported progress"),
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks the client's model"),
    ("test_input_required_result_list_roots", "Asks for the client's roots"),
    ("test_input_required_result_request_state", "Asks for a consent, and keeps a state meanwhile"),
    ("test_input_required_result_tampered_state", "Asks for a consent, and keeps a state meanwhile"),
    ("test_input_required_result_multiple_inputs", "Asks for three things at once"),
    ("test_input_required_result_multi_round", "Asks twice, one after the other"),
    ("test_input_required_result_capabilities", "Asks for what the client can be asked"),
];

/// Returns the tools.
pub(crate) fn list() -> Vec<Tool> {
    let mut tools: Vec<Tool> = BARE
        .iter()
        .map(|(name, description)| tool(name, description, json!({ "type": "object", "properties": {} })))
        .collect();
    let text = |description: &str| json!({ "type": "string", "description": description });
    tools.push(tool(
        "test_sampling",
        "Asks the client's model",
        json!({ "type": "object", "properties": { "prompt": text("The question") }, "required": ["prompt"] }),
    ));
    tools.push(tool(
        "test_elicitation",
        "Asks the person at the client",
        json!({ "type": "object", "properties": { "message": text("The question") }, "required": ["message"] }),
    ));
    tools.push(tool(
        "test_header_parameter",
        "Answers with a text that also stands in a header of the request",
        json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        }),
    ));
    tools.push(tool(
        "greet",
        "Greets at once, and never as a task",
        json!({ "type": "object", "properties": { "name": text("The name") } }),
    ));
    tools.push(tool("json_schema_2020_12_tool", "Has a schema with all keywords", schemas::all_keywords()));
    tools
}

/// Calls a tool.
pub(crate) fn call(
    call: &ContributionCall,
    watched: &WatchedResource,
    name: &str,
    arguments: &JsonObject,
) -> Result<Outcome<CallToolResult>, ErrorData> {
    if name == "test_change_watched_resource" {
        return Ok(questions::says(format!("The resource has version {} now", watched.change())));
    }
    if let Some(result) = logging::call(call, name) {
        return Ok(Outcome::Done(result));
    }
    if let Some(result) = plain::call(call, name, arguments) {
        return Ok(Outcome::Done(result));
    }
    if let Some(outcome) = input_required::call(call, name) {
        return outcome;
    }
    asking::call(call, name, arguments)
        .unwrap_or_else(|| Err(ErrorData::invalid_params(format!("there is no tool '{name}'"), None)))
}

fn tool(name: &str, description: &str, schema: Value) -> Tool {
    match schema {
        Value::Object(schema) => Tool::new(name.to_owned(), description.to_owned(), Arc::new(schema)),
        other => unreachable!("the schema of a tool is an object, not {other}"),
    }
}
