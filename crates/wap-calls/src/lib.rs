#![doc = include_str!("../README.md")]

mod call_pool;
mod client;
mod weight;

pub use call_pool::{CallPool, Full, Job};
pub use client::Client;
