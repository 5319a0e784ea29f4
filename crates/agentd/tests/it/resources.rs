//! Resources, subscriptions, prompts and completions for MCP clients.

mod bad_names;
mod client;
mod prompts;
mod reading;
mod subscriptions;
mod web;
