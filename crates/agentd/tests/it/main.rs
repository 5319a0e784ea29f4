//! Tests of `agentd` through the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod choices;
mod cost;
mod crashes;
mod daemon;
mod damage;
mod envelopes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod full_disk;
mod garbage;
mod holders;
mod inbox;
mod interrupts;
mod one_step;
mod places;
mod project;
mod replays;
mod skip;
mod transcripts;
mod undo;
