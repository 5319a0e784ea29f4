//! Contributions as clients of both eras see them.

mod client;
mod followed_resources;
mod log_messages;
