//! Tests through the public API.
