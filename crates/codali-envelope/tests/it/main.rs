//! Tests of envelopes through the public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod codali_vectors;
mod document;
mod drawn;
mod hostile;
mod properties;
mod reading;
mod reply_vectors;
