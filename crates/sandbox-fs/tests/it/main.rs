//! Tests of `sandbox-fs` through its public surface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fixture;
mod write;
