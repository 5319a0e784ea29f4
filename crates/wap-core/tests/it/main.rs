//! Tests of `wap-core` through its public API.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod cancel;
mod conversation;
mod document;
mod error;
mod exclusions;
mod llm4s;
mod numbered_view;
mod path_pattern;
mod request;
mod schema;
mod shown_versions;
mod together;
mod unknown_arguments;
mod visible_text;
