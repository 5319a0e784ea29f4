//! Tests of sessions through the public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod rounds;
