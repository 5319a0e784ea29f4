//! Every example runs and shows what it says.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chat_models;
mod runs;
mod serves;
