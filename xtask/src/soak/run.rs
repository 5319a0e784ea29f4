//! The soaks that are run alone, each with its size.

use std::fs;
use std::path::Path;

use super::FleetSize;
use super::all::all;
use super::properties::seed_of_now;
use crate::{Step, TaskError};

/// A soak with its size.
///
/// Each one is a test with more rounds than in an ordinary run: its promises are the assertions of the test.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Soak {
    /// A share of the time for each of the others that need neither root nor a server, with a table; fails if one fails.
    All {
        /// The time for all of them together, without the time to build them.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
        minutes: u64,
    },
    /// The races for files: reads, writes, deletions and listings beside neighbours who rename and swap links.
    Files {
        /// The number of operations of each kind, one half with each way of resolving.
        #[arg(long, default_value_t = 1_000_000)]
        operations: u64,
    },
    /// A fault at every system call of a reply, with a table of the outcomes. A run that was interrupted is continued.
    Journal {
        /// The time after which no further fault is tried; the next run continues from there.
        #[arg(long)]
        seconds: Option<u64>,
        /// Begins anew, instead of continuing after the faults that were tried with the same program.
        #[arg(long)]
        anew: bool,
    },
    /// Commands that try to outlive their end, with a count of those that did.
    Exec {
        /// The number of runs.
        #[arg(long, default_value_t = 1_000)]
        runs: u64,
    },
    /// Hundreds of commands that are refused something, and as many that are not, with a count of the receipts.
    Denied,
    /// Runs of coding agents whose daemon is killed at random moments, and a log without end.
    Cocode {
        /// The number of killed runs.
        #[arg(long, default_value_t = 50)]
        runs: u64,
        /// The amount that one agent prints.
        #[arg(long, default_value_t = 1_024)]
        log_megabytes: u32,
    },
    /// Flows of agents whose process is killed at random moments and resumed.
    Codali {
        /// The number of flows.
        #[arg(long, default_value_t = 50)]
        runs: u64,
    },
    /// Sessions with a model program whose process is killed at random moments and resumed.
    Loop {
        /// The number of sessions.
        #[arg(long, default_value_t = 50)]
        runs: u64,
    },
    /// Reviews of a proposal whose process is killed at random moments.
    Review {
        /// The number of rounds, of three kills each.
        #[arg(long, default_value_t = 34)]
        rounds: u64,
    },
    /// A fleet whose hosts, server and submitter are killed at random moments, whose links are cut and slow, and whose server
    /// loses what it has not synced. Needs root.
    Fleet(FleetSize),
    /// Every tool, transport and reader with inputs of hostile sizes and shapes, in processes of 256 MB.
    Hostile {
        /// The time after which no further round is begun.
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
    /// Many connections to the HTTP server at once, with mixed calls: failures, lost updates, memory.
    Serve {
        /// The time for which they are kept busy.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// The number of them.
        #[arg(long, default_value_t = 200)]
        connections: u64,
    },
}

/// The package of the program, whose tests are most of the soaks.
pub(super) const PROGRAM: &str = "agentd-workspace";

/// The test that makes every system call of a reply go wrong.
const EVERY_CALL: &str = "state::faults::fault_at_every_call_leaves_nothing_lost_partial_or_done_twice";

/// The test that runs every scripted refusal.
const EVERY_REFUSAL: &str = "command::receipts::every_refusal_is_named_and_ordinary_commands_have_none";

/// The record of the faults that were tried, relative to the root.
const FAULTS_TRIED: &str = "target/soak/journal.jsonl";

impl Soak {
    /// Runs the soak and shows its figures.
    ///
    /// # Errors
    ///
    /// Those of the test runs: a broken promise fails them; [`TaskError::NothingTested`] if a run finds no test;
    /// [`TaskError::SoaksFailed`] after all of several.
    pub fn run(&self, root: &Path) -> Result<(), TaskError> {
        match self {
            Soak::All { minutes } => return all(root, *minutes),
            Soak::Journal { anew, .. } => prepare_record(&root.join(FAULTS_TRIED), *anew)?,
            _ => {}
        }
        self.steps(root).into_iter().try_for_each(|step| run_tests(step.folder(root)))
    }

    /// Returns the test runs of which the soak consists.
    fn steps(&self, root: &Path) -> Vec<Step> {
        match self {
            Soak::All { .. } => Vec::new(),
            // One race at a time: each has two neighbours of its own.
            Soak::Files { operations } => {
                let step = test("soak files", "sandbox-fs", &["race::", "--test-threads", "1"]);
                vec![step.variable("RACE_OPERATIONS", &operations.to_string())]
            }
            Soak::Journal { seconds, .. } => {
                let record = root.join(FAULTS_TRIED);
                let step = test("soak journal", PROGRAM, &["--ignored", "--exact", EVERY_CALL]);
                // Skipping would look like passing.
                let step = step.variable("CI", "true").variable("FAULT_RECORD", &record.to_string_lossy());
                vec![match seconds {
                    Some(seconds) => step.variable("FAULT_SECONDS", &seconds.to_string()),
                    None => step,
                }]
            }
            // First with the launcher alone, then through the daemon, with `kill -9` of daemon, spawner and client.
            Soak::Exec { runs } => [("sandbox-exec", "SURVIVOR_RUNS"), (PROGRAM, "SURVIVOR_ROUNDS")]
                .map(|(package, variable)| {
                    let step = test("soak exec", package, &["survivors::", "--test-threads", "1"]);
                    step.variable(variable, &runs.to_string())
                })
                .into(),
            Soak::Denied => {
                let step = test("soak denied", "local-workspace", &["--ignored", "--exact", EVERY_REFUSAL]);
                vec![step.variable("CI", "true")]
            }
            Soak::Cocode { runs, log_megabytes } => {
                let tests = ["cocode::crashes::", "cocode::logs::", "--test-threads", "1"];
                let step = test("soak cocode", PROGRAM, &tests).variable("CRASH_RUNS", &runs.to_string());
                vec![step.variable("LOG_MEGABYTES", &log_megabytes.to_string())]
            }
            Soak::Codali { runs } => {
                let step = test("soak codali", PROGRAM, &["codali::flow_crashes::"]);
                vec![step.variable("FLOW_CRASH_RUNS", &runs.to_string())]
            }
            Soak::Loop { runs } => {
                let step = test("soak loop", PROGRAM, &["session::loop_crashes::"]);
                vec![step.variable("LOOP_CRASH_RUNS", &runs.to_string())]
            }
            Soak::Review { rounds } => {
                let step = test("soak review", PROGRAM, &["review::crashes::"]);
                vec![step.variable("REVIEW_CRASH_ROUNDS", &rounds.to_string())]
            }
            Soak::Fleet(size) => {
                let seed = size.seed.unwrap_or_else(seed_of_now);
                println!("== soak fleet: seed {seed}");
                let run =
                    ["test", "--package", PROGRAM, "--test", "fleet_soak", "--", "--ignored", "--nocapture"];
                vec![size.sized(Step::cargo("soak fleet", &run), seed)]
            }
            Soak::Hostile { seconds } => {
                let step = test("soak hostile", PROGRAM, &["hostile::"]);
                vec![step.variable("HOSTILE_SECONDS", &seconds.to_string())]
            }
            Soak::Serve { seconds, connections } => {
                let step = test("soak serve", PROGRAM, &["load::"]);
                let step = step.variable("LOAD_SECONDS", &seconds.to_string());
                vec![step.variable("LOAD_CONNECTIONS", &connections.to_string())]
            }
        }
    }
}

/// Returns a step that runs tests of a package and shows what they print.
fn test(name: &str, package: &str, arguments: &[&str]) -> Step {
    let run = ["test", "--package", package, "--test", "it", "--", "--nocapture"];
    Step::cargo(name, &[&run[..], arguments].concat())
}

/// Runs the tests of a step, of which there has to be one: a name that matches none passes.
fn run_tests(step: Step) -> Result<(), TaskError> {
    let mut passed = 0;
    step.run_seen(|line| passed += passed_tests(line))?;
    if passed == 0 { Err(TaskError::NothingTested { soak: step.name().to_owned() }) } else { Ok(()) }
}

/// Returns the number of tests that passed, by the last line of a test program; 0 for any other line.
fn passed_tests(line: &str) -> u64 {
    let count = line.strip_prefix("test result: ok. ").and_then(|rest| rest.split_once(" passed;"));
    count.and_then(|(count, _)| count.parse().ok()).unwrap_or(0)
}

/// Makes the folder of the record, and removes the record where the run is to begin anew.
fn prepare_record(record: &Path, anew: bool) -> Result<(), TaskError> {
    let unwritable = |source| TaskError::Unwritable { path: record.to_owned(), source };
    if let Some(folder) = record.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    if anew && record.exists() {
        fs::remove_file(record).map_err(unwritable)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_passed_are_counted() {
        let line =
            |count: u32| format!("test result: ok. {count} passed; 0 failed; 0 ignored; 7 filtered out");
        assert_eq!(passed_tests(&line(3)), 3);
        assert_eq!(passed_tests(&line(0)), 0);
        assert_eq!(passed_tests("test a ... ok"), 0);
        assert_eq!(passed_tests("test result: FAILED. 3 passed; 1 failed"), 0);
    }

    #[test]
    fn a_run_without_a_test_fails() {
        let step = |output: &str| Step::new("soak", "echo", &[output]);
        assert!(run_tests(step("test result: ok. 1 passed; 0 failed")).is_ok());
        let failed = run_tests(step("test result: ok. 0 passed; 0 failed; 9 filtered out"));
        assert!(matches!(failed, Err(TaskError::NothingTested { .. })), "{failed:?}");
    }
}
