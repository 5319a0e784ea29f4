//! Tests of the bracket-tag reader through its public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod vectors;
