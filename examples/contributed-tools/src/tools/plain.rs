//! Tools that answer at once.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ResourceContents};
use serde_json::{Value, json};
use wap_mcp::ContributionCall;

use crate::media::{PICTURE, PNG, SOUND, WAV};

/// Calls a tool; `None` if it is not one of these.
pub(super) fn call(call: &ContributionCall, name: &str, arguments: &JsonObject) -> Option<CallToolResult> {
    let content = match name {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PICTURE, PNG)],
        "test_audio_content" => vec![ContentBlock::audio(SOUND, WAV)],
        "test_embedded_resource" => {
            vec![resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PICTURE, PNG),
                resource("test://mixed-content-resource", "application/json", &data),
            ]
        }
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Some(CallToolResult::error(vec![ContentBlock::text(text)]));
        }
        "test_tool_with_progress" => {
            for step in [0.0, 50.0, 100.0] {
                call.report(step, Some(100.0), Some(&format!("Completed step {step} of 100")));
            }
            vec![ContentBlock::text("Tool with progress executed successfully")]
        }
        "test_header_parameter" => {
            let region = arguments.get("region").and_then(Value::as_str).unwrap_or("none");
            vec![ContentBlock::text(format!("The region is {region}."))]
        }
        "greet" => {
            let name = arguments.get("name").and_then(Value::as_str).unwrap_or("World");
            vec![ContentBlock::text(format!("Hello, {name}!"))]
        }
        "json_schema_2020_12_tool" => {
            let given = Value::Object(arguments.clone());
            vec![ContentBlock::text(format!("The tool was called with {given}"))]
        }
        _ => return None,
    };
    Some(CallToolResult::success(content))
}

fn resource(uri: &str, kind: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
}
