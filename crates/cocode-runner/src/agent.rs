//! The agent's side of the contract: commits of agents that use this library.

mod agent_repository;
pub(crate) mod cache_folders;
mod commit_message;

pub use agent_repository::{AgentGitError, AgentRepository, CommittedWork};
pub use commit_message::{finished_message, unfinished_message};
