//! What MCP clients read, follow and ask beside the tools.

mod bad_names;
mod client;
mod prompts;
mod reading;
mod subscriptions;
mod web;
