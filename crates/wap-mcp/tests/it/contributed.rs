//! Contributions as clients of both eras see them.

mod client;
mod log_messages;
