//! Tests of the bracket-tag reader through its public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod json;
mod repair;
mod repair_properties;
mod strict;
mod strict_properties;
mod texts;
mod vectors;
