//! The tasks of this repository, as functions that `cargo xtask` calls and tests call too.
//!
//! Nothing outside of this crate depends on it. It starts programs (cargo, git, the package manager) and reads the
//! repository; only `setup` changes the machine.
#![expect(clippy::print_stdout, reason = "a task talks to the person who started it")]

mod bench;
mod ci;
mod clients;
mod conformance;
mod crate_list;
mod dependencies;
mod error;
mod fuzz;
mod house;
mod outside;
mod release;
mod root;
mod setup;
mod soak;
mod step;
mod tidy;
mod tree;
mod workflows;

pub use bench::{bench, bench_codali, bench_files, bench_fleet, bench_search, bench_serve};
pub use ci::ci;
pub use ci::snapshot_references::unreferenced_snapshots;
pub use ci::test_failures::TestFailures;
pub use clients::clients;
pub use conformance::{CrateTests, Outcome, Registry, Run, Tally, conformance, crash};
pub use crate_list::{Crate, CrateList};
pub use dependencies::DependencyRules;
pub use error::TaskError;
pub use fuzz::{Fuzz, fuzz};
pub use house::{HouseFigures, house};
pub use outside::{
    AiderTests, Replay, ReplayError, Repository, ScriptRun, SuiteError, Way, aider_tests, git_tests,
    posix_tests, replay,
};
pub use release::book::{book, reference};
pub use release::dist::{Dist, dist};
pub use release::packages::packages;
pub use root::root;
pub use setup::{setup, setup_dist, setup_outside, setup_workflows};
pub use soak::{
    FleetSoak, soak, soak_cocode, soak_codali, soak_denied, soak_exec, soak_files, soak_fleet, soak_hostile,
    soak_journal, soak_loop, soak_review, soak_serve,
};
pub use step::Step;
pub use tidy::{Finding, TidyReport, check_tree, tidy};
pub use tree::Tree;
pub use workflows::{
    Refusal, StepResult, Workflow, WorkflowGroup, WorkflowRun, WorkflowStep, parse_group, read_workflows,
    workflows,
};
