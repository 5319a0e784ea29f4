//! The review as an app that hosts draw next to a call: the extension `io.modelcontextprotocol/ui`.
//!
//! The app is a self-contained document. It calls two tools that are only offered to clients that declare the extension, and only
//! if the host of the workspace lets clients answer questions. A verdict counts under the same condition as for questions: a
//! handle that is valid once, for exactly the drawn proposal.

mod calls;
mod declared;
mod document;
mod tools;

pub(crate) use declared::{advertise, is_declared};
pub(crate) use document::{URI, listed, read};
pub(crate) use tools::{AppTool, tie, tools};
