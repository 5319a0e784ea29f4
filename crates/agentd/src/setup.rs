//! The configuration files of MCP clients: their paths, the entry for this server, and writing it without touching
//! anything else.

mod json_file;
mod mcp_client;
mod placed;
mod toml_file;
mod yaml_file;

pub(crate) use mcp_client::{McpClient, Server};
pub(crate) use placed::{Placed, SetupError, alone, put_entry};
