//! Tests of the journal through its public surface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helper functions too")]

mod changes;
mod contents;
mod crash;
mod documents;
mod failed_syncs;
mod full_disk;
mod garbage;
mod log_cut;
mod opening;
mod reading;
mod rendered_log;
mod runs;
mod sharing;
mod steps;
mod support;
