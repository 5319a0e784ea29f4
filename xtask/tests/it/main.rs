//! Tests of the tasks.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ci;
mod conformance;
mod crate_list;
mod dependencies;
mod house;
mod snapshots;
mod step;
mod test_failures;
mod tidy;
mod tree;
mod workflows;
