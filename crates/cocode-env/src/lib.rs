#![doc = include_str!("../README.md")]

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
