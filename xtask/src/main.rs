//! `cargo xtask`: the tasks of this repository.
#![expect(clippy::print_stderr, reason = "a task talks to the person who started it")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{TaskError, root};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The tasks of this repository")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs every check that a change must pass, and stops at the first that fails.
    Ci,
    /// Installs the programs that the whole test suite uses, where they are missing.
    Setup,
    /// Runs the conformance cases against the crates; fails if a case fails.
    Conformance {
        /// The folder with the vector files, `fixtures/vectors` if none is given.
        folder: Option<PathBuf>,
    },
    /// Checks the rules of this repository that no compiler checks.
    Tidy,
    /// Runs the property, crash and race tests for longer than an ordinary test run does.
    Soak {
        /// Only this; every test if nothing is named.
        subject: Option<Subject>,
        /// How many times the usual number of cases.
        #[arg(long, default_value_t = 100)]
        factor: u32,
        /// Only this package.
        #[arg(long, short)]
        package: Option<String>,
    },
    /// Runs the benchmarks.
    Bench {
        /// Only benchmarks of this name.
        name: Option<String>,
        /// Only this package.
        #[arg(long, short)]
        package: Option<String>,
    },
}

/// What a long run can be about.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Subject {
    /// A fault at every system call of a reply, with a table of what became of each.
    Journal,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Ci => xtask::ci(&root()),
        Task::Setup => xtask::setup(),
        Task::Conformance { folder } => {
            xtask::conformance(&folder.unwrap_or_else(|| root().join("fixtures/vectors")))
        }
        Task::Tidy => xtask::tidy(&root()),
        Task::Soak { subject: Some(Subject::Journal), .. } => xtask::soak_journal(&root()),
        Task::Soak { subject: None, factor, package } => xtask::soak(&root(), factor, package.as_deref()),
        Task::Bench { name, package } => xtask::bench(&root(), name.as_deref(), package.as_deref()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn report(error: &TaskError) {
    eprintln!("xtask: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        eprintln!("  because: {cause}");
        source = cause.source();
    }
}
