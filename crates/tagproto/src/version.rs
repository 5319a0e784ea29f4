//! The protocol's version.

/// Version of the protocol that this crate reads and writes.
///
/// It is not written into an outbox.
///
/// Source: bracket-tag protocol, Versioning.
pub const VERSION: &str = "1.0";
