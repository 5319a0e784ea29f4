//! The list of tools for a client, short enough to be read by a model repeatedly.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as McpTool, ToolAnnotations};
use serde_json::Value;
use wap_core::{Tool, ToolEffect, compact_schema, outline_schema};

use crate::McpConfig;
use crate::extra_tool::ExtraTool;
use crate::strict_schema::strict;

/// The tools for every client: the document's seven, and the one that stops background processes.
pub(crate) const ALWAYS: [Tool; 8] = [
    Tool::ExploreFiles,
    Tool::ReadFile,
    Tool::WriteFile,
    Tool::ModifyFile,
    Tool::SearchFiles,
    Tool::ExecuteCommand,
    Tool::StopProcess,
    Tool::GetWorkspaceInfo,
];

/// Returns the tools of a configuration, in order.
pub(crate) fn tools(config: &McpConfig) -> Vec<McpTool> {
    let documented = ALWAYS.into_iter().map(|tool| documented(tool, config.wap_json));
    let extra = ExtraTool::ALL.into_iter().filter(|tool| config.extra_tools.contains(tool)).map(extra);
    let mut tools = documented.chain(extra).collect();
    config.contributions.add_tools(&mut tools);
    tools
}

/// The most characters of a name that the answer to an unknown name repeats, and the most tools that it lists.
const NAME_CHARACTERS: usize = 100;
const NAMED_TOOLS: usize = 40;

/// Returns the answer to a call of a nonexistent tool. A model without the current list can read the names there.
pub(crate) fn no_such_tool(name: &str, config: &McpConfig) -> String {
    let name: String = name.chars().take(NAME_CHARACTERS).collect();
    let tools = tools(config);
    let names: Vec<&str> = tools.iter().take(NAMED_TOOLS).map(|tool| tool.name.as_ref()).collect();
    let more = if tools.len() > NAMED_TOOLS { ", …" } else { "" };
    format!("there is no tool '{name}'; the tools are {}{more}", names.join(", "))
}

/// Checks whether the workspace has a tool of this name, so that no contributed one is called instead.
pub(crate) fn is_of_workspace(name: &str, config: &McpConfig) -> bool {
    ALWAYS.iter().any(|tool| tool.name() == name) || config.extra_tools.iter().any(|tool| tool.name() == name)
}

/// Checks whether a tool answers with plain text: clients that receive text and structure only show the structure to a model, and
/// file contents and command outputs are hard to read as JSON.
pub(crate) fn answers_text(tool: Tool) -> bool {
    matches!(tool, Tool::ReadFile | Tool::SearchFiles | Tool::ExecuteCommand | Tool::StopProcess)
}

fn documented(tool: Tool, wap_json: bool) -> McpTool {
    let input = object(strict(compact_schema(&tool.request_schema())));
    let mut listed = McpTool::new(tool.name(), tool.description(), input);
    // With exact JSON, every answer is text for the client, and text has no schema.
    if !wap_json && !answers_text(tool) {
        listed.output_schema = Some(object(outline_schema(&tool.response_schema())));
    }
    // By the protocol, a tool without further hints is destructive and has an open world.
    let annotations = ToolAnnotations::with_title(tool.title());
    listed.annotations = Some(match tool.effect() {
        ToolEffect::Reads => annotations.read_only(true).open_world(false),
        ToolEffect::Changes => annotations.open_world(false),
        ToolEffect::Runs => annotations,
    });
    listed
}

fn extra(tool: ExtraTool) -> McpTool {
    let mut listed =
        McpTool::new(tool.name(), tool.description(), object(strict(compact_schema(&tool.request_schema()))));
    let annotations = ToolAnnotations::with_title(tool.title()).open_world(false);
    listed.annotations = Some(if tool.only_reads() { annotations.read_only(true) } else { annotations });
    listed
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        other => unreachable!("the schema of a tool is an object, not {other}"),
    }
}
