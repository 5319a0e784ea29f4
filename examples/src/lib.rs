//! Small programs, each of which uses a single crate of this repository or a few of them.
//!
//! - `chat-model`: an agent for `agentd new --model` that asks a chat server.
//! - `embed-code-index`: an index of a folder, without a server.
//! - `embed-sandbox-fs`: files beneath one folder, with no way out of it.
//! - `one-reply`: a model's reply is carried out, and the next message to the model is written.
//! - `serve-http`, `serve-mcp`: a workspace in memory over HTTP and over MCP.
//!
//! `cargo run -p examples --bin one-reply` runs one. The library itself is empty. Its documentation tests
//! are the Rust code of the README and of the pages under `docs/`.
#![cfg_attr(doctest, doc = include_str!("../../README.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/codali.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/tagproto.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/wap.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/writing-an-adapter.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/files.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/commands.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/cocode.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/durability.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/guide.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/start/single-crates.md"))]
#![cfg_attr(doctest, doc = include_str!("../../docs/start/adapter.md"))]
