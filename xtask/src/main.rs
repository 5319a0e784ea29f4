//! `cargo xtask`: the tasks of this repository.
#![expect(clippy::print_stderr, reason = "a task talks to the person who started it")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

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
    Setup {
        /// Installs other programs instead: `coverage` for those of `cargo xtask coverage`, `dist` for those of `cargo xtask dist`, `outside` for those that stand beside ours in `cargo xtask outside`, `workflows`
        /// for those of `cargo xtask workflows`.
        what: Option<SetupOf>,
    },
    /// Builds the book of the pages under `docs/` into `target/book`, and checks its links.
    Book {
        /// Writes `docs/reference/` from the definition of the command line first.
        #[arg(long)]
        reference: bool,
    },
    /// Runs clients that people have, and the suites of the protocols, against the built program, with their figures.
    Clients,
    /// Runs the conformance cases against the crates; fails if a case fails.
    Conformance {
        /// The folder with the vector files, `fixtures/vectors` if none is given.
        folder: Option<PathBuf>,
    },
    /// Works on the folder of a conformance case until it is killed; such cases start this themselves.
    #[command(hide = true)]
    Crash {
        /// The kind of victim.
        kind: String,
        /// The folder of the case.
        folder: PathBuf,
    },
    /// Builds a release into `target/release-files`: an archive and a Debian package, both of which are then tried.
    Dist {
        /// The profile of the build.
        #[arg(long, default_value = "dist")]
        profile: String,
        /// The target, `x86_64-unknown-linux-musl` for instance; this machine's if none is given.
        #[arg(long)]
        target: Option<String>,
        /// Builds the program twice, to learn from sample work which functions belong side by side: twice the time, and a
        /// program that takes less memory and starts earlier.
        #[arg(long)]
        trained: bool,
    },
    /// Runs a measure over material that others wrote, and writes its section of `docs/outside.md`.
    Outside {
        #[command(subcommand)]
        suite: OutsideSuite,
    },
    /// Runs everyday workflows plainly and confined, and writes `docs/workflows.md`; fails if one is not as expected.
    Workflows {
        /// The groups to run, by the stem of their file in `fixtures/workflows`; all if there are none.
        groups: Vec<String>,
        /// A part of the names of the rows to run. No page is written then.
        #[arg(long)]
        only: Option<String>,
        /// The number of measured runs of each row, after a first one.
        #[arg(long, default_value_t = 3)]
        rounds: u32,
        /// The program, instead of a release build of this repository.
        #[arg(long)]
        binary: Option<PathBuf>,
        /// Prints the tables, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Makes the packages of all crates that are published, and checks what is in them.
    Packages {
        /// Also builds every crate with its smallest set of features, and with each feature by itself.
        #[arg(long)]
        alone: bool,
    },
    /// Checks the crates that need no system for Windows, macOS, FreeBSD and WebAssembly.
    Systems,
    /// Checks the rules of this repository that no compiler checks.
    Tidy,
    /// Prints readability metrics: sizes of folders, language, names.
    House,
    /// Runs the property, crash and race tests for longer than an ordinary test run does.
    #[command(args_conflicts_with_subcommands = true)]
    Soak {
        /// The run to make alone, with figures.
        #[command(subcommand)]
        alone: Option<xtask::Soak>,
        /// The factor for the usual number of cases.
        #[arg(long, default_value_t = 100)]
        factor: u32,
        /// Only this package.
        #[arg(long, short)]
        package: Option<String>,
        /// The seed of another run, to draw the same cases.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Builds the fuzz targets and runs each for a while, with a table; fails if one finds something. Needs a nightly compiler.
    Fuzz {
        /// The targets to run; all if there are none.
        targets: Vec<String>,
        /// The time for each target.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// The number of targets that run at once.
        #[arg(long, default_value_t = 2)]
        at_once: usize,
        /// Builds quickly, by the stable compiler and without sanitizer: whether the targets work at all.
        #[arg(long)]
        quick: bool,
        /// Adds the figures to those of earlier runs in docs/fuzzing.md.
        #[arg(long, conflicts_with = "quick")]
        page: bool,
    },
    /// Changes crates in one small way after the other, and prints the changes that none of their tests notices.
    Mutants {
        /// The crates; all those that others rely on line by line if there are none.
        crates: Vec<String>,
        /// The time for all of them together; the next run continues.
        #[arg(long)]
        minutes: Option<u64>,
        /// Tries again what earlier runs have caught.
        #[arg(long)]
        anew: bool,
    },
    /// Prints by crate how many lines the tests reach. Needs the tools of `setup coverage`.
    Coverage {
        /// The crates whose tests run; all if there are none.
        crates: Vec<String>,
    },
    /// Runs the benchmarks of one area, or of all.
    Bench {
        #[command(subcommand)]
        area: Option<xtask::BenchArea>,
        /// Only those of this package, of whatever area; not together with an area.
        #[arg(long, short)]
        package: Option<String>,
        /// Measure this program instead of the one of a release build: the one that `cargo xtask dist` has built, for
        /// instance. Only with the area `serve` or `growth`; the others measure no program.
        #[arg(long, global = true, value_name = "FILE")]
        program: Option<PathBuf>,
        /// Write what they print into docs/figures.md, with plots.
        #[arg(long, global = true)]
        page: bool,
    },
}

/// Programs that are not for the test suite.
#[derive(Clone, Copy, clap::ValueEnum)]
enum SetupOf {
    /// The programs that read the counters of instrumented tests.
    Coverage,
    /// The peers of the measures over material of others.
    Outside,
    /// The toolchains, databases and browser of the everyday workflows.
    Workflows,
    /// The programs that make a release.
    Dist,
}

/// Measures over material that others wrote.
#[derive(Subcommand)]
enum OutsideSuite {
    /// Runs every suite whose checkout is in a folder, with a table that names those that are not there.
    All {
        /// The folder, with a checkout for each suite: `codex`, `stack-graphs`, `coclr`, `aider`, `sandbox-runtime`,
        /// `pjdfstest`, `git`, and in `replay` any number of them.
        #[arg(long)]
        from: PathBuf,
        /// The number of scripts that run at once.
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Turns the commits of repositories into replies in five formats with the usual damages, and counts those that land
    /// right, are refused, or land wrong.
    Replay {
        /// A git checkout that is here, as `NAME=DIR` or `DIR`; may be given several times. This repository if none is given.
        #[arg(long)]
        repository: Vec<xtask::Repository>,
        /// The number of replies, from all repositories alike.
        #[arg(long, default_value_t = 1_000)]
        replies: usize,
        /// The seed by which changes and damages are chosen.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
        /// A folder for the replies that landed wrong or were refused without need.
        #[arg(long)]
        details: Option<PathBuf>,
    },
    /// Runs git's own tests inside the confinement and without it, and compares their outcomes case by case.
    Git {
        #[command(flatten)]
        choices: ScriptChoices,
    },
    /// Runs aider's tests of its edit formats, and compares what its coders and ours make of each reply.
    Aider {
        /// A checkout of aider, or its repository.
        #[arg(long)]
        from: PathBuf,
        /// A file for the replies that are read differently.
        #[arg(long)]
        details: Option<PathBuf>,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Applies the patches of Codex's scenarios as a session does, and compares the files with those expected.
    Codex {
        /// A checkout of Codex, or the folder of its scenarios.
        #[arg(long)]
        from: PathBuf,
        /// A sentence for the report on what the folder is, if it is not a checkout.
        #[arg(long)]
        provenance: Option<String>,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Runs the tests of sandbox-runtime that run commands, and has ours run these.
    SandboxRuntime {
        /// A checkout of sandbox-runtime, or its repository.
        #[arg(long)]
        from: PathBuf,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Asks the code search the questions of CoSQA, whose right functions people have judged, beside plain BM25.
    Search {
        /// A checkout of CoCLR, or its repository.
        #[arg(long)]
        from: PathBuf,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Compares definitions and dependencies of the code index with those that stack-graphs' fixtures mark.
    StackGraphs {
        /// A checkout of stack-graphs, or the folder of its languages.
        #[arg(long)]
        from: PathBuf,
        /// Prints the report alone, and writes no page.
        #[arg(long)]
        print: bool,
    },
    /// Runs pjdfstest, which compares file systems with POSIX, on a layer and on the bare file system.
    Posix {
        #[command(flatten)]
        choices: ScriptChoices,
    },
}

/// The choices that all suites of scripts have.
#[derive(clap::Args)]
struct ScriptChoices {
    /// The folder with the suite.
    #[arg(long)]
    from: PathBuf,
    /// The beginning of the names of the scripts to run; may be given several times. All if none is given.
    #[arg(long)]
    script: Vec<String>,
    /// A level of confinement at which each script is run; may be given several times.
    #[arg(long, default_values = ["full", "landlock"])]
    level: Vec<xtask::Way>,
    /// A file that keeps the outcomes, so that a later run resumes with the scripts that are left.
    #[arg(long)]
    records: Option<PathBuf>,
    /// The number of scripts that run at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Prints the report alone, and writes no page.
    #[arg(long)]
    print: bool,
    /// Keeps the outcomes in the file of `--records` alone.
    #[arg(long, hide = true, requires = "records")]
    record_only: bool,
}

fn main() -> ExitCode {
    // The commands of conformance cases are started by a process of this same program.
    sandbox_exec::spawner_main_if_requested();
    let outcome = match Arguments::parse().task {
        Task::Ci => xtask::ci(&root()),
        Task::Setup { what: None } => xtask::setup(),
        Task::Setup { what: Some(SetupOf::Coverage) } => xtask::setup_coverage(),
        Task::Setup { what: Some(SetupOf::Outside) } => {
            xtask::setup_outside();
            Ok(())
        }
        Task::Setup { what: Some(SetupOf::Workflows) } => {
            xtask::setup_workflows();
            Ok(())
        }
        Task::Setup { what: Some(SetupOf::Dist) } => xtask::setup_dist(),
        Task::Dist { profile, target, trained } => {
            xtask::dist(&root(), &xtask::Dist { profile, target, is_trained: trained })
        }
        Task::Workflows { groups, only, rounds, binary, print } => {
            xtask::workflows(&root(), &xtask::WorkflowRun { groups, only, rounds, binary, print })
        }
        Task::Book { reference: true } => xtask::reference(&root()).and_then(|()| xtask::book(&root())),
        Task::Book { reference: false } => xtask::book(&root()),
        Task::Clients => xtask::clients(&root()),
        Task::Conformance { folder } => {
            xtask::conformance(&folder.unwrap_or_else(|| root().join("fixtures/vectors")))
        }
        Task::Crash { kind, folder } => xtask::crash(&kind, &folder),
        Task::Outside { suite } => outside(suite),
        Task::Packages { alone } => xtask::packages(&root(), alone),
        Task::Fuzz { targets, seconds, at_once, quick, page } => {
            let run = xtask::Fuzz { seconds, targets, at_once, is_quick: quick, writes_page: page };
            xtask::fuzz(&root(), &run)
        }
        Task::Systems => xtask::systems(&root()),
        Task::Mutants { crates, minutes, anew } => {
            let limit = minutes.map(|minutes| Duration::from_secs(minutes * 60));
            xtask::mutants(&root(), &xtask::Mutants { crates, limit, is_anew: anew })
        }
        Task::Coverage { crates } => xtask::coverage(&root(), &crates),
        Task::Tidy => xtask::tidy(&root()),
        Task::House => xtask::house(&root()),
        Task::Soak { alone: Some(soak), .. } => soak.run(&root()),
        Task::Soak { alone: None, factor, package, seed } => {
            xtask::soak(&root(), factor, package.as_deref(), seed)
        }
        Task::Bench { area, package, program, page } => {
            xtask::bench(&root(), &xtask::Bench { area, package, program, writes_page: page })
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

fn outside(suite: OutsideSuite) -> Result<(), TaskError> {
    match suite {
        OutsideSuite::All { from, jobs, print } => {
            xtask::all_suites(&root(), &xtask::AllSuites { from, jobs, print })
        }
        OutsideSuite::Replay { mut repository, replies, seed, print, details } => {
            if repository.is_empty() {
                repository.push(xtask::Repository { name: "this repository".to_owned(), folder: root() });
            }
            let page = (!print).then(|| PathBuf::from("docs/outside.md"));
            xtask::replay(&root(), &xtask::Replay { repositories: repository, replies, seed, page, details })
        }
        OutsideSuite::Git { choices } => xtask::git_tests(&root(), &choices.into()),
        OutsideSuite::Aider { from, details, print } => {
            xtask::aider_tests(&root(), &xtask::AiderTests { from, print, details })
        }
        OutsideSuite::Codex { from, provenance, print } => {
            xtask::codex_scenarios(&root(), &xtask::CodexScenarios { from, provenance, print })
        }
        OutsideSuite::SandboxRuntime { from, print } => {
            xtask::sandbox_tests(&root(), &xtask::SandboxTests { from, print })
        }
        OutsideSuite::Search { from, print } => {
            xtask::search_quality(&root(), &xtask::SearchQuality { from, print })
        }
        OutsideSuite::StackGraphs { from, print } => {
            xtask::stack_graphs(&root(), &xtask::StackGraphs { from, print })
        }
        OutsideSuite::Posix { choices } => xtask::posix_tests(&root(), &choices.into()),
    }
}

impl From<ScriptChoices> for xtask::ScriptRun {
    fn from(choices: ScriptChoices) -> xtask::ScriptRun {
        let ScriptChoices { from, script, level, records, jobs, print, record_only } = choices;
        xtask::ScriptRun { from, scripts: script, ways: level, records, jobs, print, record_only }
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
