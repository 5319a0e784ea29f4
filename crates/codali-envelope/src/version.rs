//! The version of the protocol.

/// The version that the envelopes have.
pub const VERSION: &str = "v1";
