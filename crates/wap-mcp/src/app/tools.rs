//! The two tools of the app, and its link to the tools whose results it draws.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool as McpTool, ToolAnnotations};
use serde_json::{Value, json};
use wap_core::Tool;

use super::document::URI;

/// A tool for the app alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppTool {
    /// Shows a proposal.
    Show,
    /// Decides about the shown proposal.
    Decide,
}

impl AppTool {
    const ALL: [AppTool; 2] = [AppTool::Show, AppTool::Decide];

    fn name(self) -> &'static str {
        match self {
            AppTool::Show => "reviewShow",
            AppTool::Decide => "reviewDecide",
        }
    }

    /// Returns the tool of this name.
    pub(crate) fn named(name: &str) -> Option<AppTool> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn description(self) -> &'static str {
        match self {
            AppTool::Show => "For the app ui://agentd/review only: shows the proposal of a call.",
            AppTool::Decide => {
                "For the app ui://agentd/review only: carries out, or sends back, what a person was shown."
            }
        }
    }

    fn schema(self) -> Value {
        match self {
            AppTool::Show => json!({
                "type": "object",
                "properties": {
                    "view": { "type": "string" },
                    "tool": { "type": "string" },
                    "arguments": { "type": "object" }
                },
                "additionalProperties": false
            }),
            AppTool::Decide => json!({
                "type": "object",
                "properties": {
                    "handle": { "type": "string" },
                    "decision": { "type": "string", "enum": ["land", "sendBack"] },
                    "comment": { "type": "string" }
                },
                "required": ["handle", "decision"],
                "additionalProperties": false
            }),
        }
    }

    fn listed(self) -> McpTool {
        let Value::Object(schema) = self.schema() else { unreachable!("the schema of a tool is an object") };
        let mut listed = McpTool::new(self.name(), self.description(), Arc::new(schema));
        let annotations = ToolAnnotations::new().read_only(self == AppTool::Show).open_world(false);
        listed.annotations = Some(match self {
            AppTool::Show => annotations,
            AppTool::Decide => annotations.destructive(true),
        });
        // Hosts hide such a tool from their model.
        listed.meta = Some(meta(json!({ "resourceUri": URI, "visibility": ["app"] })));
        listed
    }
}

/// Returns the tools of the app.
pub(crate) fn tools() -> impl Iterator<Item = McpTool> {
    AppTool::ALL.into_iter().map(AppTool::listed)
}

/// Links the tools whose calls are reviewed to the app.
pub(crate) fn tie(tools: &mut [McpTool], reviewed: &[Tool]) {
    for tool in tools.iter_mut().filter(|tool| reviewed.iter().any(|one| one.name() == tool.name)) {
        tool.meta = Some(meta(json!({ "resourceUri": URI })));
    }
}

/// Writes both spellings: hosts of early drafts of the extension only know the flat one.
fn meta(ui: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([
        ("ui".to_owned(), ui),
        ("ui/resourceUri".to_owned(), Value::from(URI)),
    ]))
}
