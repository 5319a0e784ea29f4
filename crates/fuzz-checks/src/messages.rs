//! Readers of messages.

mod bundles;
mod envelopes;
mod llm4s;
mod logs;
mod mcp;

pub use bundles::bundle_header;
pub use envelopes::envelope_readers;
pub use llm4s::llm4s_messages;
pub use logs::log_lines;
pub use mcp::mcp_messages;
