//! Tests of docdex-client, through its public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod call;
mod floods;
mod remote;
mod remote_harm;
mod web_pages;
