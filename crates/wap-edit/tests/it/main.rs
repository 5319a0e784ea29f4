//! Tests of `wap-edit` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod diff_prefixes;
mod edit_report;
mod printed_numbers;
mod properties;
mod refusals;
