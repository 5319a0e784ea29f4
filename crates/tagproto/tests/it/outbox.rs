//! The outbox, rendered and parsed.

mod content;
mod later_messages;
mod properties;
mod snapshots;
