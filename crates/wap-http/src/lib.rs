#![doc = include_str!("../README.md")]

mod bodies;
mod calls;
mod clients;
mod connections;
mod guard;
mod llm4s;
mod mcp_gate;
mod mcp_head;
mod meter;
mod metrics;
mod open_api;
mod peer;
mod refusal;
mod router;
mod side_runtime;
mod token;
mod write_timeout;

pub use connections::{Shutdown, serve};
pub use guard::{Guard, HostName};
pub use llm4s::{PrefixError, Sockets, WorkspacePrefix};
pub use metrics::{IndexFigures, Metrics};
pub use peer::Peer;
pub use router::{HttpConfig, ReportIndex, router};
pub use side_runtime::SideRuntime;
pub use token::{BearerToken, TokenError, default_token_file};
