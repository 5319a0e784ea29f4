//! Agents that run on another machine, and what that machine sends.

mod attacks;
mod bases;
mod bombs;
mod bundle_headers;
mod bundle_sources;
mod claims;
mod crashes;
mod deliveries;
mod forged_trees;
mod interrupted;
mod machine_faults;
mod machines;
mod records;
mod same_verdicts;
