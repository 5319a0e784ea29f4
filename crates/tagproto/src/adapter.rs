//! Carries out the blocks of a reply on a [`Workspace`](wap_core::Workspace).
//!
//! The same items make the same calls: effects are numbered in the order of the reply, so an engine answers steps that it already
//! carried out from its record. To resume an interrupted run, call [`execute`] again.

mod base_versions;
mod batches;
mod command_output;
mod edit_reports;
mod excerpt;
mod execute;
mod execution;
mod failure;
mod file_change;
mod line_moves;
mod named_code;
mod observer;
mod process_result;
mod read_start;
mod reply_versions;
mod summary;

pub use base_versions::{BaseVersions, base_versions};
pub use execute::execute;
pub use execution::Execution;
pub use observer::{ExecutionObserver, UnobservedExecution};
pub(crate) use read_start::{read_lines, read_start};
