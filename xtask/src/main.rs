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
    Setup {
        /// Installs other programs instead: `dist` for those of `cargo xtask dist`, `outside` for those that stand beside ours in `cargo xtask outside`, `workflows`
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
    /// Checks the rules of this repository that no compiler checks.
    Tidy,
    /// Prints how easily a stranger finds their way: sizes of folders, language, names.
    House,
    /// Runs the property, crash and race tests for longer than an ordinary test run does.
    Soak {
        /// The run to make alone, with figures.
        #[command(subcommand)]
        alone: Option<SoakAlone>,
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
    },
    /// Runs the benchmarks.
    #[command(args_conflicts_with_subcommands = true)]
    Bench {
        #[command(subcommand)]
        goals: Option<Goals>,
        /// Only this package.
        #[arg(long, short)]
        package: Option<String>,
    },
}

/// Programs that are not for the test suite.
#[derive(Clone, Copy, clap::ValueEnum)]
enum SetupOf {
    /// The peers of the measures over material of others.
    Outside,
    /// The toolchains, databases and browser of the everyday workflows.
    Workflows,
    /// The programs that make a release.
    Dist,
}

/// Long runs with figures.
#[derive(Subcommand)]
enum SoakAlone {
    /// The races for files: reads, writes, deletions and listings beside neighbours who rename and swap links.
    Files {
        /// The number of operations of each kind, one half with each way of resolving.
        #[arg(long, default_value_t = 1_000_000)]
        operations: u64,
    },
    /// A fault at every system call of a reply, with a table of the outcomes.
    Journal,
    /// Commands that try to outlive their end, with a count of those that did.
    Exec {
        /// The number of runs.
        #[arg(long, default_value_t = 1_000)]
        runs: u32,
    },
    /// Hundreds of commands that are refused something, and as many that are not, with a count of the receipts.
    Denied,
    /// Runs of coding agents whose daemon is killed at random moments, and a log without end.
    Cocode {
        /// The number of killed runs.
        #[arg(long, default_value_t = 50)]
        runs: u32,
        /// The amount that one agent prints.
        #[arg(long, default_value_t = 1024)]
        log_megabytes: u32,
    },
    /// Flows of agents whose process is killed at random moments and resumed.
    Codali {
        /// The number of flows.
        #[arg(long, default_value_t = 50)]
        runs: u32,
    },
    /// Sessions with a model program whose process is killed at random moments and resumed.
    Loop {
        /// The number of sessions.
        #[arg(long, default_value_t = 50)]
        runs: u32,
    },
    /// Reviews of a proposal whose process is killed at random moments.
    Review {
        /// The number of rounds, of three kills each.
        #[arg(long, default_value_t = 34)]
        rounds: u32,
    },
    /// A fleet whose hosts, server and submitter are killed at random moments, whose links are cut and slow, and whose server
    /// loses what it has not synced. Needs root.
    Fleet {
        /// The number of tasks.
        #[arg(long, default_value_t = 1_000)]
        tasks: u32,
        /// The number of hosts.
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
        workers: u32,
        /// The number of kills.
        #[arg(long, default_value_t = 200)]
        kills: u32,
        /// The number of links that are cut.
        #[arg(long, default_value_t = 20)]
        partitions: u32,
        /// The number of links that become slow.
        #[arg(long, default_value_t = 10)]
        delays: u32,
        /// The number of power cuts of the server.
        #[arg(long, default_value_t = 3)]
        power_cuts: u32,
        /// The most that each link delays all the time, in milliseconds and in each direction.
        #[arg(long, default_value_t = 5)]
        latency_ms: u32,
        /// The seed of another run, to draw the same disorder.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Every tool, transport and reader with inputs of hostile sizes and shapes, in processes of 256 MB.
    Hostile {
        /// For how long.
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
    /// Many connections to the HTTP server at once, with mixed calls: failures, lost updates, memory.
    Serve {
        /// For how long.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// The number of them.
        #[arg(long, default_value_t = 200)]
        connections: u64,
    },
}

/// Measures over material that others wrote.
#[derive(Subcommand)]
enum OutsideSuite {
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
}

/// Benchmarks with goals, which print what is met.
#[derive(Subcommand)]
enum Goals {
    /// Searching, listing, reading and editing files, beside `rg` and `find`.
    Files {
        /// In a tree of 90,000 files instead of 20,000.
        #[arg(long)]
        large: bool,
    },
    /// Searching with a list of files that is kept, beside `rg` and beside searching without it.
    Search,
    /// Single edits with their commits, beside plain writes that are synced.
    Journal,
    /// Confined commands, beside plain ones and another sandbox.
    Exec,
    /// The servers, beside other servers for files.
    Serve,
    /// Coding agents: from a run to an agent's first line, memory of twenty at once, and when events are seen.
    Cocode,
    /// Measure a fleet: dispatch, submitting, bytes, throughput of 1 to 16 hosts, and what it costs other commands. Needs root.
    Fleet,
    /// Measure what a round of a loop with a model program costs apart from the model, and the memory over 1,000 rounds.
    Loop,
    /// Envelopes and the code index: speed, and search quality beside plain ways of ranking.
    Codali {
        /// Search quality alone.
        #[arg(long)]
        quality: bool,
    },
}

fn main() -> ExitCode {
    // The commands of conformance cases are started by a process of this same program.
    sandbox_exec::spawner_main_if_requested();
    let outcome = match Arguments::parse().task {
        Task::Ci => xtask::ci(&root()),
        Task::Setup { what: None } => xtask::setup(),
        Task::Setup { what: Some(SetupOf::Outside) } => {
            xtask::setup_outside();
            Ok(())
        }
        Task::Setup { what: Some(SetupOf::Workflows) } => {
            xtask::setup_workflows();
            Ok(())
        }
        Task::Setup { what: Some(SetupOf::Dist) } => {
            xtask::setup_dist();
            Ok(())
        }
        Task::Dist { profile, target } => xtask::dist(&root(), &xtask::Dist { profile, target }),
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
        Task::Fuzz { targets, seconds, at_once, quick } => {
            xtask::fuzz(&root(), &xtask::Fuzz { seconds, targets, at_once, is_quick: quick })
        }
        Task::Tidy => xtask::tidy(&root()),
        Task::House => xtask::house(&root()),
        Task::Soak { alone: Some(SoakAlone::Files { operations }), .. } => {
            xtask::soak_files(&root(), operations)
        }
        Task::Soak { alone: Some(SoakAlone::Journal), .. } => xtask::soak_journal(&root()),
        Task::Soak { alone: Some(SoakAlone::Exec { runs }), .. } => xtask::soak_exec(&root(), runs),
        Task::Soak { alone: Some(SoakAlone::Denied), .. } => xtask::soak_denied(&root()),
        Task::Soak { alone: Some(SoakAlone::Cocode { runs, log_megabytes }), .. } => {
            xtask::soak_cocode(&root(), runs, log_megabytes)
        }
        Task::Soak { alone: Some(SoakAlone::Codali { runs }), .. } => xtask::soak_codali(&root(), runs),
        Task::Soak { alone: Some(SoakAlone::Review { rounds }), .. } => xtask::soak_review(&root(), rounds),
        Task::Soak { alone: Some(SoakAlone::Loop { runs }), .. } => xtask::soak_loop(&root(), runs),
        Task::Soak { alone: Some(SoakAlone::Serve { seconds, connections }), .. } => {
            xtask::soak_serve(&root(), seconds, connections)
        }
        Task::Soak {
            alone:
                Some(SoakAlone::Fleet { tasks, workers, kills, partitions, delays, power_cuts, latency_ms, seed }),
            ..
        } => {
            let size =
                xtask::FleetSoak { tasks, workers, kills, partitions, delays, power_cuts, latency_ms, seed };
            xtask::soak_fleet(&root(), size)
        }
        Task::Soak { alone: Some(SoakAlone::Hostile { seconds }), .. } => {
            xtask::soak_hostile(&root(), seconds)
        }
        Task::Soak { alone: None, factor, package, seed } => {
            xtask::soak(&root(), factor, package.as_deref(), seed)
        }
        Task::Bench { goals: Some(Goals::Files { large }), .. } => xtask::bench_files(&root(), large),
        Task::Bench { goals: Some(Goals::Search), .. } => xtask::bench_search(&root()),
        Task::Bench { goals: Some(Goals::Journal), .. } => xtask::bench(&root(), Some("journal"), None),
        Task::Bench { goals: Some(Goals::Exec), .. } => xtask::bench(&root(), Some("exec"), None),
        Task::Bench { goals: Some(Goals::Serve), .. } => xtask::bench_serve(&root()),
        Task::Bench { goals: Some(Goals::Codali { quality }), .. } => xtask::bench_codali(&root(), quality),
        Task::Bench { goals: Some(Goals::Cocode), .. } => xtask::bench(&root(), Some("cocode"), None),
        Task::Bench { goals: Some(Goals::Fleet), .. } => xtask::bench_fleet(&root()),
        Task::Bench { goals: Some(Goals::Loop), .. } => xtask::bench(&root(), Some("loop"), None),
        Task::Bench { goals: None, package } => xtask::bench(&root(), None, package.as_deref()),
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
        OutsideSuite::Posix { choices } => xtask::posix_tests(&root(), &choices.into()),
    }
}

impl From<ScriptChoices> for xtask::ScriptRun {
    fn from(choices: ScriptChoices) -> xtask::ScriptRun {
        let ScriptChoices { from, script, level, records, jobs, print } = choices;
        xtask::ScriptRun { from, scripts: script, ways: level, records, jobs, print }
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
