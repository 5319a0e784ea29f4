//! The configuration of a server for one fleet: text for `nats-server`, keys for its users. Starting it is the caller's.

mod accounts;
mod configuration;
mod keys;
mod permissions;
mod syncing;

pub use configuration::{ServerConfig, ServerConfigError, ServerUsers, TlsFiles};
pub use keys::{KeyError, UserKey};
pub use syncing::SyncPolicy;
