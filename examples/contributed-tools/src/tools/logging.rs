//! Tools that write log messages.

use std::thread::sleep;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use wap_mcp::{ContributionCall, LogLevel};

/// The pause between two messages of the slow tool: its client receives them while it runs.
const PAUSE: Duration = Duration::from_millis(50);

/// Calls a tool; `None` if it is not one of these.
pub(super) fn call(call: &ContributionCall, name: &str) -> Option<CallToolResult> {
    match name {
        "test_tool_with_logging" => {
            let info = |text: &str| call.log(LogLevel::Info, None, json!(text));
            info("Tool execution started");
            sleep(PAUSE);
            info("Tool processing data");
            sleep(PAUSE);
            info("Tool execution completed");
        }
        "test_logging_tool" => {
            for level in [LogLevel::Debug, LogLevel::Warning, LogLevel::Error] {
                let data = json!({ "text": format!("a message of the level {level:?}"), "disk": 7 });
                call.log(level, Some("example"), data);
            }
        }
        _ => return None,
    }
    Some(CallToolResult::success(vec![ContentBlock::text("Tool with logging executed successfully")]))
}
