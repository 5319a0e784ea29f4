#![doc = include_str!("../README.md")]

mod changes;
mod index;
mod listing;
mod reading;
mod record;
mod run_changes;
mod search;
mod tree;
mod workspace;

pub use index::MemoryIndex;
pub use workspace::MemoryWorkspace;
