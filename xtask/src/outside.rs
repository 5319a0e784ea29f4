//! Measures over material that others wrote: it is read from the machine, and nothing of it is kept here.

mod aider;
mod all;
mod applied;
mod checkout;
mod codex;
mod git;
mod open_index;
mod posix;
mod replay;
mod reply_reasons;
mod sandbox_runtime;
mod script_suite;
mod search;
mod stack_graphs;
mod suite_error;
mod way;

use std::path::Path;

pub use aider::{AiderTests, aider_tests};
pub use all::{AllSuites, all_suites};
pub use codex::{CodexScenarios, codex_scenarios};
pub use git::git_tests;
pub use posix::posix_tests;
pub use replay::{Replay, ReplayError, Repository, replay};
pub use sandbox_runtime::{SandboxTests, sandbox_tests};
pub use script_suite::ScriptRun;
pub use search::{SearchQuality, search_quality};
pub use stack_graphs::{StackGraphs, stack_graphs};
pub use suite_error::SuiteError;
pub use way::Way;

use crate::TaskError;
use crate::repository::page::write_section;

/// The text in front of the sections of `docs/outside.md`.
pub(crate) const BEGINNING: &str = "\
# Measures that others wrote

Written by `cargo xtask outside`, of which `all --from DIR` runs every suite that has a checkout in a folder. The suites are read from the
user's own checkouts and from package registries; nothing of them is in this repository.

Two measures of others are left out. CodeSearchNet's judgements are about functions in thousands of repositories, whose sources neither a
package registry nor a single checkout carries; the questions of CoSQA below ask the same of the search. Of the 152 tests of the reference
filesystem server 138 call functions of its own, within its process; 10 check the form of its answers; 4 check how it
treats several folders on its command line, and `agentd` takes one.
";

/// Writes a section of the page.
fn write_page(root: &Path, heading: &str, section: &str) -> Result<(), TaskError> {
    write_section(&root.join("docs/outside.md"), BEGINNING, heading, section)
}

/// Returns an error if there are differences without a reason.
fn all_explained(unexplained: usize) -> Result<(), TaskError> {
    match unexplained {
        0 => Ok(()),
        count => Err(SuiteError::Unexplained { count }.into()),
    }
}
