//! Tests through the public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod context;
mod log;
mod names;
mod states;
mod verdict;
