//! Tests of envelopes through the public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod call_frame;
mod codali_vectors;
mod document;
mod drawn;
mod error_texts;
mod forgiving;
mod history;
mod hostile;
mod limits;
mod properties;
mod reading;
mod reply_vectors;
mod respelled;
