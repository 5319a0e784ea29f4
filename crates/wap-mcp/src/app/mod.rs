//! The review as an app that hosts draw beside a call: the extension `io.modelcontextprotocol/ui`.
//!
//! The app is one document without anything from outside. It calls two tools that only a client which declares the extension
//! is offered, and only where the host of the workspace lets clients answer questions at all. Whether a verdict counts is decided
//! as for questions: by a handle that counts once, for exactly what was drawn.

mod calls;
mod declared;
mod document;
mod tools;

pub(crate) use declared::{advertise, is_declared};
pub(crate) use document::{URI, listed, read};
pub(crate) use tools::{AppTool, tie, tools};
