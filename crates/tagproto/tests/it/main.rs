//! Tests of the bracket-tag reader through its public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod call_frame;
mod exec_vectors;
mod flow_vectors;
mod outbox_properties;
mod outbox_snapshots;
mod round_trip;
mod strict;
mod strict_properties;
mod texts;
mod vectors;
