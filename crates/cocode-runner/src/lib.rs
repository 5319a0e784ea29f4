//! Runs coding agents in git worktrees, confined, and determines which of them have really finished.
//!
//! A [`Runner`] makes for each agent a worktree and a branch, gives it the five variables of the contract
//! (`cocode-env`), starts it through `sandbox-exec` with exactly its worktree and its git folders writable, keeps its
//! log, and judges its commits when it has ended. The records of agents survive a crash; agents do not.
//!
//! The runner reads nothing from the process's own environment, and nothing in the repository configures it: all of its
//! inputs are in [`RunnerConfig`] and [`Host`].
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod agent;
mod bundle;
mod delivery;
mod doctor;
mod error;
mod objects;
mod plan;
mod record;
mod repository;
mod run;
mod runner;
mod verdict;

pub use agent::{AgentGitError, AgentRepository, CommittedWork, finished_message, unfinished_message};
pub use bundle::base_repository::{BaseError, BaseLimits, BaseRepository};
pub use bundle::header::{BundleHeader, BundleHeaderError};
pub use bundle::refusal::BundleRefusal;
pub use bundle::source::{BundleError, BundleSource};
pub use bundle::{BUNDLE_LIMIT_BYTES, BundleSize};
pub use delivery::error::DeliveryError;
pub use delivery::log::ElsewhereLog;
pub use delivery::{Delivery, DeliveryLimits};
pub use doctor::{DoctorFinding, doctor};
pub use error::{RepositoryError, RunnerError, error_chain};
pub use plan::agents_file::{AgentsFile, AgentsFileError};
pub use plan::definition::{AgentCommand, AgentDefinition};
pub use plan::environment::agent_environment;
pub use plan::host::Host;
pub use plan::hub_issue::{HubError, HubIssue};
pub use plan::run_limits::RunLimits;
pub use plan::{PlanLine, RunPlan, RunRequest};
pub use record::AgentRecord;
pub use record::agent_confinement::AgentConfinement;
pub use record::elsewhere::{CheckPermissions, DeliveredHead, Elsewhere};
pub use repository::git::GitError;
pub use repository::left_file::LeftFile;
pub use repository::own_git_folder::SESSION_FOLDER;
pub use run::event::{RunEvent, RunObserver, Unobserved};
pub use run::launchers::Launchers;
pub use run::stop::StopFlag;
pub use runner::{Runner, RunnerConfig, log_files, read_records, request_cancel};
pub use verdict::clean::Cleaned;
pub use verdict::continued::ContinuedWork;
pub use verdict::contract_check::{CheckContext, CheckPart, CheckReport, check_contract};
pub use verdict::obeyed_files::{ObeyedFile, ObeyedFiles};
pub use verdict::pick::{PickWay, Picked, WorkSize, diff};
