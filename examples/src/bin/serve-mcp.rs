//! Serves a workspace in memory to an MCP client on standard input and output.

use std::error::Error;
use std::sync::Arc;

use memory_workspace::MemoryWorkspace;
use tokio::sync::Notify;
use wap_calls::{CallPool, Client};
use wap_core::Workspace;
use wap_mcp::{McpConfig, McpServer, RecentOutputs, ServerName, serve_stdio};

fn main() -> Result<(), Box<dyn Error>> {
    let workspace: Arc<dyn Workspace> = Arc::new(MemoryWorkspace::with_files([("hello.txt", "Hello!\n")]));
    let client = Client::new("mcp", &workspace, &CallPool::new());
    let name = ServerName { name: "serve-mcp", title: "A workspace in memory", version: "1" };
    let config = Arc::new(McpConfig::new(name));
    let server = McpServer::new(&config, client, &Arc::new(RecentOutputs::default()));
    serve_stdio(server, &Arc::new(Notify::new()), || ())?;
    Ok(())
}
