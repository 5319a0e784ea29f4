//! Tests of sessions through the public API, on a workspace in memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cut_off;
mod desk;
mod edited_messages;
mod inbox;
mod projections;
mod refusals;
mod reopening;
mod replies;
mod rounds;
mod turns;
