#![doc = include_str!("../README.md")]

mod contribution;
mod media;
mod prompts;
mod resources;
mod server;
mod tools;

pub use contribution::ExampleContribution;
pub use server::ExampleServer;
