//! MCP over HTTP: the service for one address, its sessions, and clients that outlast a request without one.

mod lasting;
mod request_stream;
mod service;
mod sessions;
mod unread;

pub(crate) use lasting::{LastingClients, is_newer};
pub(crate) use request_stream::RequestStream;
pub use service::HttpMcp;
pub use sessions::{BoundedSessions, SessionRoom, SessionsError};
