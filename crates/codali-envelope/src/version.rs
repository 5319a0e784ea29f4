//! The version of the protocol.

/// The protocol version of the envelopes.
pub const VERSION: &str = "v1";
