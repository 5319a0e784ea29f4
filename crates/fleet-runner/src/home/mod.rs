//! Home's side: submitted tasks, their bases, and their outcomes.

mod base_chain;
mod durable_file;
mod folder;
mod git_failures;
mod journal;
mod retries;
mod task_files;
mod unsent;

pub use base_chain::{BaseChain, ChainError};
pub use folder::HomeFolder;
pub use journal::{FleetObserver, HomeJournal};
pub use task_files::TaskFiles;
