//! Runs coding agents in git worktrees, confined, and finds out which of them are really done.
//!
//! A [`Runner`] makes for each agent a worktree and a branch, gives it the five variables of the contract
//! (`cocode-env`), starts it through `sandbox-exec` with exactly its worktree and its git folders writable, keeps its
//! log, and judges what it has committed when it has ended. What is known of agents survives a crash; agents do not.
//!
//! Nothing is read from the process's own environment, and nothing in the repository configures anything: what the
//! runner may know comes in as [`RunnerConfig`] and [`Host`].

mod agent_policy;
mod agents_file;
mod branch_follower;
mod child_output;
mod clean;
mod closed_folder;
mod contract_check;
mod definition;
mod doctor;
mod ended;
mod environment;
mod error;
mod event;
mod evidence;
mod foreign_file;
mod git;
mod head_log;
mod host;
mod hub_issue;
mod left_file;
mod log_file;
mod loose_objects;
mod object_check;
mod object_import;
mod own_branches;
mod own_objects;
mod own_repository;
mod pick;
mod plan;
mod record;
mod repository;
mod run;
mod run_limits;
mod runner;
mod stop;
mod store;
mod taken_objects;
mod watch;
mod worktree;

pub use agents_file::{AgentsFile, AgentsFileError};
pub use clean::Cleaned;
pub use contract_check::{CheckGround, CheckPart, CheckReport, check_contract};
pub use definition::{AgentCommand, AgentDefinition};
pub use doctor::{DoctorFinding, doctor};
pub use environment::agent_environment;
pub use error::{RepositoryError, RunnerError};
pub use event::{RunEvent, RunObserver, Unobserved};
pub use git::GitError;
pub use host::Host;
pub use hub_issue::{HubError, HubIssue};
pub use left_file::LeftFile;
pub use pick::{PickWay, Picked, WorkSize, diff};
pub use plan::{PlanLine, RunPlan, RunRequest};
pub use record::AgentRecord;
pub use run_limits::RunLimits;
pub use runner::{Runner, RunnerConfig, log_files, read_records, request_cancel};
pub use stop::StopFlag;
