//! Commands as tasks over MCP, in both eras.

mod client;
mod http;
mod newer;
mod older;
mod reviews;
mod survival;
