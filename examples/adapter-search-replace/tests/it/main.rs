//! What becomes of replies, as a table: files, a reply, what is refused, files afterwards.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod commit;
