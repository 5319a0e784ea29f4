//! Tests of `agentd` through the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cost;
mod crashes;
mod daemon;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod project;
mod transcripts;
