//! Tests of `web-ui` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod files;
mod inbox;
mod replies;
mod scripts;
mod site;
mod texts;
mod unseen;
