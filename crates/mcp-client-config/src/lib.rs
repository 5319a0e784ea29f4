#![doc = include_str!("../README.md")]

mod client;
mod error;
mod formats;
mod merge;
mod put_entry;
mod with_entry;

pub use client::{McpClient, Server};
pub use error::ConfigError;
pub use formats::FileFormat;
pub use put_entry::{Placed, put_entry};
pub use with_entry::{alone, with_entry};
