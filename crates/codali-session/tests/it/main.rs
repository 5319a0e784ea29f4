//! Tests of `codali-session` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conversations;
mod daemons;
mod flow_bench;
mod flows;
mod histories;
mod request_folders;
mod section_table;
