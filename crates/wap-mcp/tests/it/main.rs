//! Tests of `wap-mcp` through its public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod contributed;
mod resource_names;
mod strict_schemas;

use std::sync::Arc;

use memory_workspace::MemoryWorkspace;
use proptest::prelude::*;
use rmcp::ServerHandler;
use wap_calls::{CallPool, Client};
use wap_core::{Tool, Workspace};
use wap_mcp::{ExtraTool, McpConfig, McpServer, PageLimit, RecentOutputs, ServerName};

const NAME: ServerName = ServerName { name: "test", title: "A test", version: "1" };

fn server(extra_tools: Vec<ExtraTool>) -> McpServer {
    let workspace: Arc<dyn Workspace> = Arc::new(MemoryWorkspace::default());
    let client = Client::new("mcp", &workspace, &CallPool::new());
    let config = McpConfig { extra_tools, ..McpConfig::new(NAME) };
    McpServer::new(&Arc::new(config), client, &Arc::new(RecentOutputs::default()))
}

fn names() -> impl Iterator<Item = &'static str> {
    Tool::DOCUMENTED.into_iter().map(Tool::name).chain(ExtraTool::ALL.into_iter().map(ExtraTool::name))
}

#[test]
fn the_tools_as_a_model_reads_them() {
    let server = server(ExtraTool::ALL.to_vec());
    let mut text = String::new();
    for name in names() {
        let tool = server.get_tool(name).unwrap();
        let arguments = serde_json::to_string(&tool.input_schema["properties"]).unwrap();
        text.push_str(&format!("{name}: {}\n    {arguments}\n", tool.description.unwrap_or_default()));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_server_introduces_itself_by_its_name() {
    let info = server(Vec::new()).get_info();
    assert_eq!(info.server_info.name, "test");
    assert_eq!(info.server_info.version, "1");
}

proptest! {
    #[test]
    fn exactly_the_tools_that_were_chosen_are_listed(chosen in prop::sample::subsequence(ExtraTool::ALL.to_vec(), 0..=10)) {
        let server = server(chosen.clone());
        for name in names() {
            let is_chosen = chosen.iter().any(|tool| tool.name() == name);
            let is_documented = Tool::DOCUMENTED.into_iter().any(|tool| tool.name() == name);
            prop_assert_eq!(server.get_tool(name).is_some(), is_chosen || is_documented, "{}", name);
        }
    }

    #[test]
    fn a_page_is_unlimited_or_has_a_thousand_characters_or_more(characters in 0_usize..5_000) {
        let page: Result<PageLimit, _> = characters.to_string().parse();
        prop_assert_eq!(page.is_ok(), characters == 0 || characters >= 1_000);
    }
}
