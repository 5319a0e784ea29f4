//! Answers of 2025-11-25 about tasks, for which the SDK has no fields.

use rmcp::model::{
    CustomResult, InitializeResult, JsonRpcMessage, ListToolsResult, ProtocolVersion, ServerJsonRpcMessage,
    ServerResult,
};
use serde_json::{Value, json};
use wap_core::Tool;

/// Adds the information about tasks for a client of the older era to a message; other messages stay unchanged.
pub(crate) fn for_older_client(mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    if let JsonRpcMessage::Response(response) = &mut message {
        let extended = match &response.result {
            ServerResult::InitializeResult(result) => with_capability(result),
            ServerResult::ListToolsResult(result) => with_support(result),
            _ => None,
        };
        if let Some(extended) = extended {
            response.result = ServerResult::CustomResult(CustomResult::new(extended));
        }
    }
    message
}

fn with_capability(result: &InitializeResult) -> Option<Value> {
    if result.protocol_version != ProtocolVersion::V_2025_11_25 {
        return None;
    }
    let mut extended = serde_json::to_value(result).ok()?;
    extended["capabilities"]["tasks"] =
        json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    Some(extended)
}

fn with_support(result: &ListToolsResult) -> Option<Value> {
    // Lists of the newer era name the type of their result.
    if result.result_type.is_some() {
        return None;
    }
    let mut extended = serde_json::to_value(result).ok()?;
    for tool in extended["tools"].as_array_mut()? {
        if tool["name"] == Tool::ExecuteCommand.name() {
            tool["execution"] = json!({ "taskSupport": "optional" });
        }
    }
    Some(extended)
}
