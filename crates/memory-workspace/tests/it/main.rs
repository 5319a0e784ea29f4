//! Tests of `memory-workspace` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod index;
mod line_meaning;
mod vectors;
mod workspace;
