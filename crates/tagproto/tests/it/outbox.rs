//! The outbox, rendered and parsed.

mod content;
mod properties;
mod snapshots;
