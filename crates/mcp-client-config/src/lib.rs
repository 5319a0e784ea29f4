#![doc = include_str!("../README.md")]

mod access;
mod client;
mod error;
mod folder;
mod formats;
mod location;
mod merge;
mod put_entry;
mod unfinished;
mod with_entry;

pub use client::{McpClient, Server};
pub use error::ConfigError;
pub use formats::FileFormat;
pub use put_entry::{Placed, put_entry, rewrite};
pub use with_entry::{alone, with_entry};
