//! Tests through the public API, with real repositories and processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent_commits;
mod cleaning;
mod confinement;
mod continuing;
mod contract;
mod definitions;
mod elsewhere;
mod fixture;
mod modes;
mod orphans;
mod own_objects;
mod picking;
mod processes;
mod recovering;
mod refusals;
mod siblings;
mod soundness;
mod traces;
#[path = "../../../sandbox-exec/tests/tricks/mod.rs"]
mod tricks;
mod verdicts;
