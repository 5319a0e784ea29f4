//! The other side of the contract: the commits of an agent that is written with this library.

mod agent_repository;
pub(crate) mod cache_folders;
mod commit_message;

pub use agent_repository::{AgentGitError, AgentRepository, CommittedWork};
pub use commit_message::{finished_message, unfinished_message};
