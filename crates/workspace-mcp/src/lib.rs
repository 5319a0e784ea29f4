#![doc = include_str!("../README.md")]

mod asking;
mod history;
mod questions;
mod resources;
mod tasks;

pub use history::ServedHistory;
pub use questions::ServedQuestions;
pub use resources::ServedResources;
pub use tasks::ServedTasks;
