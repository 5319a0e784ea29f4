//! Tests of `mcp-client-config` through its public API.

mod clients;
mod files;
mod layouts;
mod refusals;

use mcp_client_config::{McpClient, Server};
use serde_json::Value;

/// The clients whose files are of each format, one for each.
const ONE_OF_EACH: [McpClient; 3] = [McpClient::Vscode, McpClient::Codex, McpClient::Goose];

fn entry(client: McpClient) -> Value {
    let arguments = ["mcp", "--workspace", "/home/u/\"a\" b"].map(str::to_owned).to_vec();
    client.entry("agentd", &Server { program: "/usr/bin/agentd".to_owned(), arguments })
}
