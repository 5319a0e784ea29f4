//! Tests of `rel-path` through its public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod new_name;
mod parse;
mod protected;
mod rendered;
mod round_trip;
#[cfg(feature = "serde")]
mod serialized;
mod shortlist;
