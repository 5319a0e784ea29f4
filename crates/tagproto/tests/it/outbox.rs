//! The outbox, rendered and parsed.

mod content;
mod filtered;
mod first_message;
mod later_messages;
mod paste_parts;
mod properties;
mod snapshots;
mod whole_views;
