//! Tests of `codali-session` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conversations;
mod histories;
mod request_folders;
