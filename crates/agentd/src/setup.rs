//! The configuration files of MCP clients: where they are, what stands in them for this server, and how that gets in
//! without touching anything else.

mod json_file;
mod mcp_client;
mod placed;
mod toml_file;

pub(crate) use mcp_client::{McpClient, Server};
pub(crate) use placed::{Placed, SetupError, alone, place};
