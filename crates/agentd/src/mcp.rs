//! The workspace tools over the Model Context Protocol (MCP), in its eras 2025-11-25 and 2026-07-28.
//!
//! Everything that knows `rmcp` stands in this module. It owns how tools are listed and how answers look to a model;
//! it never decides what a tool does.

mod answer;
mod bounded_lines;
mod docdex;
mod extra_tool;
mod http;
mod line_transport;
mod page;
mod progress;
mod recent_outputs;
mod server;
mod sessions;
mod stdio;
mod text;
mod tool_list;

pub(crate) use docdex::CodeTools;
pub(crate) use extra_tool::ExtraTool;
pub(crate) use http::HttpMcp;
pub(crate) use page::PageLimit;
pub(crate) use recent_outputs::RecentOutputs;
pub(crate) use server::{McpConfig, McpServer};
pub(crate) use sessions::SessionRoom;
pub(crate) use stdio::serve_stdio;
