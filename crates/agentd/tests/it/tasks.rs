//! Commands as tasks over MCP, in both eras.

pub(crate) mod client;
mod http;
mod newer;
mod notified;
mod older;
mod reviews;
mod survival;
