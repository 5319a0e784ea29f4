//! Tests of the bracket-tag reader through its public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agentd_dialect;
mod call_frame;
mod exec_vectors;
mod execute;
mod flow_vectors;
mod json;
mod long_replies;
mod outbox;
mod outbox_properties;
mod outbox_snapshots;
mod recording;
mod repair;
mod repair_properties;
mod round_trip;
mod sessions;
mod strict;
mod strict_properties;
mod texts;
mod vectors;
