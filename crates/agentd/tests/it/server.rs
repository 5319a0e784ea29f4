//! The tools over every transport: MCP, HTTP, WebSocket, JSON lines.

mod bad_clients;
mod budgets;
mod git_names;
mod hostile;
mod llm4s;
mod load;
mod mcp;
mod named_network;
mod network_limits;
mod processes;
mod real_clients;
mod setup;
mod survivors;
mod waiting_calls;
mod wap;
mod web;
