#![doc = include_str!("../README.md")]

mod client;
mod error;
mod formats;
mod put_entry;

pub use client::{McpClient, Server};
pub use error::ConfigError;
pub use formats::FileFormat;
pub use put_entry::{Placed, alone, put_entry, with_entry};
