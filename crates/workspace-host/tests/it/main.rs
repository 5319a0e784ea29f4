//! Tests of `workspace-host` through its public API.

mod lines;
mod messages;
mod takeover;
