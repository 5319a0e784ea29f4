//! Small programs, each of which uses a single crate of this repository or a few of them.
//!
//! - `embed-sandbox-fs`: files beneath one folder, with no way out of it.
//! - `one-reply`: a model's reply is carried out, and the next message to the model is written.
//!
//! `cargo run -p examples --bin one-reply` runs one. The library itself is empty. When its documentation is tested, that is
//! the README and the pages under `docs/`, so that the Rust code there is compiled and run like any other.
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
