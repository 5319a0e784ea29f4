//! Tests of `agentd` through the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crashes;
mod daemon;
mod project;
mod transcripts;
mod undo;
