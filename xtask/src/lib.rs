//! The tasks of this repository, as functions that `cargo xtask` calls and tests call too.
//!
//! Nothing outside of this crate depends on it. It starts programs (cargo, git, the package manager) and reads the
//! repository; only `setup` changes the machine.
#![expect(clippy::print_stdout, reason = "a task talks to the person who started it")]

mod bench;
mod ci;
mod clients;
mod conformance;
mod coverage;
mod dependencies;
mod error;
mod fuzz;
mod house;
mod mutants;
mod outside;
mod release;
mod repository;
mod setup;
mod soak;
mod step;
mod tidy;
mod workflows;

pub use bench::{Bench, BenchArea, bench};
pub use ci::ci;
pub use ci::snapshot_references::unreferenced_snapshots;
pub use ci::test_failures::TestFailures;
pub use clients::clients;
pub use conformance::{CrateTests, Outcome, Registry, Run, Tally, conformance, crash};
pub use coverage::coverage;
pub use dependencies::DependencyRules;
pub use error::TaskError;
pub use fuzz::{Fuzz, fuzz};
pub use house::{HouseFigures, house};
pub use mutants::{Mutants, mutants};
pub use outside::{
    AiderTests, AllSuites, CodexScenarios, Replay, ReplayError, Repository, SandboxTests, ScriptRun,
    SearchQuality, StackGraphs, SuiteError, Way, aider_tests, all_suites, codex_scenarios, git_tests,
    posix_tests, replay, sandbox_tests, search_quality, stack_graphs,
};
pub use release::book::{book, reference};
pub use release::dist::{Dist, dist};
pub use release::packages::packages;
pub use release::systems::systems;
pub use repository::crate_list::{Crate, CrateList};
pub use repository::root::root;
pub use repository::tree::Tree;
pub use setup::{setup, setup_coverage, setup_dist, setup_outside, setup_workflows};
pub use soak::{FleetSize, Soak, soak};
pub use step::Step;
pub use tidy::{Finding, TidyReport, check_tree, tidy};
pub use workflows::{
    Refusal, StepResult, Workflow, WorkflowGroup, WorkflowRun, WorkflowStep, parse_group, read_workflows,
    workflows,
};
