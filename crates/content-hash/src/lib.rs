#![doc = include_str!("../README.md")]

mod hash;

pub use hash::{ContentHash, ContentHashError};
