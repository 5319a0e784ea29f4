//! The example over HTTP, as clients of both eras see it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod newer;
mod older;
