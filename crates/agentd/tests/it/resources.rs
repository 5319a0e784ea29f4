//! Resources, subscriptions, prompts and completions for MCP clients.

mod bad_names;
mod client;
mod neighbours;
mod prompts;
mod reading;
mod subscriptions;
mod web;
