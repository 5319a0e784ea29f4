//! Tests of `mcp-client-config` through its public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod clients;
mod entries;
mod files;
mod layouts;
mod meanwhile;
mod merging;
mod names;
mod refusals;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use mcp_client_config::{FileFormat, McpClient, Server};
use serde_json::Value;

/// One client for each file format.
const ONE_OF_EACH: [McpClient; 3] = [McpClient::Vscode, McpClient::Codex, McpClient::Goose];

/// Parses a text in the format of the client.
fn parsed(client: McpClient, text: &str) -> Value {
    match client.format() {
        FileFormat::Json => {
            let root = CstRootNode::parse(text, &ParseOptions::default()).expect("JSON");
            root.value().and_then(|value| value.to_serde_value()).unwrap_or_default()
        }
        FileFormat::Toml => toml_edit::de::from_str(text).expect("TOML"),
        FileFormat::Yaml => serde_yaml::from_str(text).expect("YAML"),
        other => panic!("{other:?}"),
    }
}

/// Checks whether all lines of `before`, with their ends, are lines of `after` in the same order. A comma after a line of JSON is
/// ignored.
fn has_all_lines(after: &str, before: &str) -> bool {
    let mut lines = after.split_inclusive('\n');
    let same = |line: &str| line.replacen("]\r\n", "],\r\n", 1).replacen("]\n", "],\n", 1);
    before.split_inclusive('\n').all(|line| lines.any(|other| other == line || other == same(line)))
}

fn entry(client: McpClient) -> Value {
    let arguments = ["mcp", "--workspace", "/home/u/\"a\" b"].map(str::to_owned).to_vec();
    client.entry("agentd", &Server { program: "/usr/bin/agentd".to_owned(), arguments })
}
