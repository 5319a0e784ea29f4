//! Tests of `workspace-host` through its public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cut_values;
mod history;
mod key_lines;
mod lines;
mod messages;
mod requests;
mod review;
mod secrets;
mod served_lines;
mod state_links;
mod takeover;
