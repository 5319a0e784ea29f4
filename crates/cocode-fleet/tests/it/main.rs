//! Tests of the crate; most of them run a real server of their own.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod configuration;
mod connecting;
mod failures;
mod fakes;
mod fences;
mod figures;
mod fixture;
mod homes;
mod hostile;
mod hosts;
mod messages;
mod names;
mod one_task;
mod partition;
mod power_cut;
mod server;
mod troubles;
