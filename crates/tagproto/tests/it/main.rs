//! Tests of the bracket-tag protocol through the public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agentd_dialect;
mod clipped;
mod cut_off_replies;
mod execute;
mod fixture;
mod json;
mod long_replies;
mod lost_indentation;
mod other_formats;
mod outbox;
mod repair;
mod sessions;
mod strict;
mod vectors;
