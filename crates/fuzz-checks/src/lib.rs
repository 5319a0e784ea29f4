#![doc = include_str!("../README.md")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a check reports what it finds by a panic"
)]

mod check;
mod folders;
mod messages;
mod text;

pub use check::{CHECKS, Check};
pub use folders::{journal_reader, layer_changes, path_rules};
pub use messages::{bundle_header, envelope_readers, llm4s_messages, log_lines, mcp_messages};
pub use text::{foreign_formats, line_edits, line_maps, tag_parser, tag_repair, text_matches};
