//! The workspace tools over HTTP/1.1, the llm4s dialect at `/ws` and `/agent`, and MCP at `/mcp`.
//!
//! Everything that knows `axum` and `hyper` stands in this module. It owns who may ask and how answers travel; it never
//! decides what a tool does.

mod bodies;
mod calls;
mod clients;
mod connections;
mod guard;
mod impatience;
mod llm4s;
mod mcp_gate;
mod meter;
mod metrics;
mod open_api;
mod refusal;
mod router;
mod token;

pub(crate) use connections::{Shutdown, serve};
pub(crate) use guard::{Guard, HostName};
pub(crate) use llm4s::{Sockets, WorkspacePrefix};
pub(crate) use metrics::Metrics;
pub(crate) use router::{HttpConfig, router};
pub(crate) use token::{BearerToken, default_file};
