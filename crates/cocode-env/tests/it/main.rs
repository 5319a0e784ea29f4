//! Tests through the public API.

mod context;
mod log;
mod names;
mod snapshots;
mod states;
mod values;
mod verdict;
