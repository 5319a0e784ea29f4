//! Tests of `agentd` through the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cocode;
mod codali;
mod configuration;
mod exit_codes;
mod fixture;
mod fleet;
#[path = "../hostile/mod.rs"]
mod hostile_table;
mod questions;
mod resources;
mod review;
mod secrets;
mod server;
mod session;
mod shell_help;
mod start_pages;
mod state;
mod tasks;
#[path = "../../../sandbox-exec/tests/tricks/mod.rs"]
mod tricks;
