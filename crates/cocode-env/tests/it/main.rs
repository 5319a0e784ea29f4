//! Tests through the public API.

mod context;
mod log;
mod names;
mod states;
mod verdict;
