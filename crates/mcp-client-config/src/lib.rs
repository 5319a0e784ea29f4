#![doc = include_str!("../README.md")]

mod access;
mod client;
mod entry_name;
mod error;
mod folder;
mod formats;
mod location;
mod merge;
mod put_entry;
mod unfinished;
mod with_entry;

pub use client::{McpClient, Server};
pub use entry_name::entry_name_in;
pub use error::ConfigError;
pub use formats::FileFormat;
pub use put_entry::{Placed, Registered, entry_name_in_file, put_entry, put_server, rewrite};
pub use with_entry::{alone, with_entry};
