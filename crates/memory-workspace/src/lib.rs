#![doc = include_str!("../README.md")]

mod changes;
mod index;
mod listing;
mod own_changes;
mod reading;
mod record;
mod search;
mod tree;
mod workspace;

pub use index::MemoryIndex;
pub use workspace::MemoryWorkspace;
