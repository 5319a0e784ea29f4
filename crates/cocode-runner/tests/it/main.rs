//! Tests through the public API, with real repositories and processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent_commits;
mod cleaning;
mod cleaning_in_use;
mod confinement;
mod continuing;
mod contract;
mod definitions;
mod elsewhere;
mod fixture;
mod indexes;
mod modes;
mod nested;
mod own_objects;
mod picking;
mod planted_links;
mod processes;
mod recovering;
mod refusals;
mod siblings;
mod soundness;
#[path = "../../../sandbox-exec/tests/tricks/mod.rs"]
mod tricks;
mod verdicts;
