//! The cocode contract: a coding agent gets five environment variables and a git worktree, and answers with commits.
//!
//! Everything here is plain data and rules; nothing reads a variable, a file, a repository or a clock. Both sides of
//! the contract use it.
//!
//! # For authors of agents
//!
//! ```
//! use cocode_env::{AgentContext, ReadyMarker, Variable};
//!
//! # let environment = |variable: Variable| Some(match variable {
//! #     Variable::RepoPath => "/tmp/tree".into(),
//! #     Variable::IssueNumber => "5".into(),
//! #     Variable::IssueUrl => "https://example.org/issues/5".into(),
//! #     Variable::IssueBodyFile => "/tmp/issue.txt".into(),
//! #     Variable::ReadyMarker => "cocode ready for check".into(),
//! # });
//! // In an agent: `AgentContext::from_variables(|variable| std::env::var_os(variable.name()))`.
//! let context = AgentContext::from_variables(environment)?;
//! let message = format!("fix: issue #{}\n\n{}", context.issue, context.marker);
//! assert!(context.marker.is_in(&message));
//! # Ok::<(), cocode_env::ContextError>(())
//! ```
//!
//! # For those who start agents
//!
//! ```
//! use cocode_env::{AgentName, AgentState, ExitMeaning, branch_name};
//!
//! let agent: AgentName = "fixer".parse()?;
//! assert_eq!(branch_name("7".parse()?, &agent), "cocode/7-fixer");
//! assert_eq!(ExitMeaning::of(124), ExitMeaning::Timeout);
//! assert_eq!(AgentState::after_exit(ExitMeaning::of(0), false), AgentState::Completed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod agent_name;
mod agent_state;
mod branch;
mod context;
mod exit_meaning;
mod issue_number;
mod issue_url;
mod log_line;
mod log_stream;
mod marker;
mod marker_use;
mod variable;
mod verdict;

pub use agent_name::{AgentName, AgentNameError};
pub use agent_state::AgentState;
pub use branch::{branch_name, default_branch_of};
pub use context::{AgentContext, ContextError, Problem, ProblemKind};
pub use exit_meaning::ExitMeaning;
pub use issue_number::{IssueNumber, IssueNumberError};
pub use issue_url::{IssueUrl, IssueUrlError};
pub use log_line::{LogLevel, LogLine};
pub use log_stream::{LINE_LIMIT_BYTES, LogStream};
pub use marker::{MarkerError, ReadyMarker};
pub use marker_use::MarkerUse;
pub use variable::Variable;
pub use verdict::{CheckResult, Evidence, HeadCommit, Part, PartName, Verdict};
