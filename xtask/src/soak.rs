//! The long runs of the property, crash and race tests.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Step, TaskError};

/// The default number of cases of a property; properties multiply the number in the environment instead of it.
const USUAL_CASES: u64 = 256;

/// Runs the tests with many more cases, those that an ordinary run ignores because they take long included.
///
/// Properties follow `PROPTEST_CASES`, as long as they state their number of cases as a multiple of the default one.
/// `SOAK_FACTOR` is for tests with loops of their own: they multiply their rounds by it. Cases are drawn from
/// `seed`, or anew each time from one that is printed.
///
/// # Errors
///
/// Those of the test run.
pub fn soak(root: &Path, factor: u32, package: Option<&str>, seed: Option<u64>) -> Result<(), TaskError> {
    let scope = match package {
        Some(package) => vec!["--package", package],
        None => vec!["--workspace"],
    };
    let arguments = [&["test", "--tests"], scope.as_slice(), &["--", "--include-ignored"]].concat();
    let cases = u64::from(factor).saturating_mul(USUAL_CASES).to_string();
    let seed = seed.unwrap_or_else(seed_of_now);
    println!("== soak: seed {seed}");
    Step::cargo("soak", &arguments)
        .variable("PROPTEST_CASES", &cases)
        // The configuration of cargo names the one of the checks.
        .variable("PROPTEST_RNG_SEED", &seed.to_string())
        .variable("SOAK_FACTOR", &factor.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

fn seed_of_now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    u64::try_from(time).unwrap_or_default()
}

/// Runs the race tests of `sandbox-fs` with many operations of each kind, and shows their figures.
///
/// `RACE_OPERATIONS` tells the tests how many operations of each kind there are to be: reads, writes, deletions and
/// listings, one half with each way of resolving, while neighbours rename folders and swap links in.
///
/// # Errors
///
/// Those of the test run; a single escape fails it.
pub fn soak_files(root: &Path, operations: u64) -> Result<(), TaskError> {
    // One race at a time: each has two neighbours of its own.
    let arguments = ["test", "--package", "sandbox-fs", "--test", "it", "--"];
    let arguments = [&arguments[..], &["race::", "--nocapture", "--test-threads", "1"]].concat();
    Step::cargo("soak files", &arguments)
        .variable("RACE_OPERATIONS", &operations.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// The test that makes every system call of a reply go wrong.
const EVERY_CALL: &str = "state::faults::fault_at_every_call_leaves_nothing_lost_partial_or_done_twice";

/// Runs a reply with a fault at every one of its system calls, each in a run of its own, and prints the outcomes.
///
/// It takes about half an hour on two cores. `FAULT_CALLS` and `FAULT_KINDS` name some calls and faults between commas,
/// `FAULT_WORKERS` says how many runs go on at a time.
///
/// # Errors
///
/// Those of the test run: a fault after which anything was lost, partially written or done twice, or a machine that lets no process
/// trace another.
pub fn soak_journal(root: &Path) -> Result<(), TaskError> {
    let test = ["test", "--package", "agentd-workspace", "--test", "it", "--"];
    let arguments = [test.as_slice(), &["--ignored", "--exact", EVERY_CALL, "--nocapture"]].concat();
    // Skipping would look like passing.
    Step::cargo("soak journal", &arguments).variable("CI", "true").folder(root).run().map(|_| ())
}

/// Runs commands and background processes that daemonise, ignore signals, stop themselves, print without end and hold pipes,
/// ends them in every way, and looks for what is left: first with the launcher alone, then through the daemon, with `kill -9`
/// of the daemon, the spawner and the client at random moments and a table of the results.
///
/// # Errors
///
/// Those of the test runs; a single survivor fails them.
pub fn soak_exec(root: &Path, runs: u32) -> Result<(), TaskError> {
    for (package, variable) in [("sandbox-exec", "SURVIVOR_RUNS"), ("agentd-workspace", "SURVIVOR_ROUNDS")] {
        let arguments = ["test", "--package", package, "--test", "it", "--"];
        let arguments = [&arguments[..], &["survivors::", "--nocapture", "--test-threads", "1"]].concat();
        Step::cargo("soak exec", &arguments).variable(variable, &runs.to_string()).folder(root).run()?;
    }
    Ok(())
}

/// The test that runs every scripted refusal.
const EVERY_REFUSAL: &str = "command::receipts::every_refusal_is_named_and_ordinary_commands_have_none";

/// Runs commands that are refused something by their confinement, and ordinary ones, and prints how many of the refusals are
/// named with the right cause, and how many ordinary commands have a receipt.
///
/// # Errors
///
/// Those of the test run; fewer than 95 % of the refusals, and any receipt of an ordinary command, fail it.
pub fn soak_denied(root: &Path) -> Result<(), TaskError> {
    let test = ["test", "--package", "local-workspace", "--test", "it", "--"];
    let arguments = [test.as_slice(), &["--ignored", "--exact", EVERY_REFUSAL, "--nocapture"]].concat();
    // Skipping would look like passing.
    Step::cargo("soak denied", &arguments).variable("CI", "true").folder(root).run().map(|_| ())
}

/// Keeps many connections to `agentd serve` busy with mixed calls for a while, and prints a table of them, of the server's
/// memory and of what was lost.
///
/// # Errors
///
/// Those of the test run; a call that fails, an update that is lost or a server that grows fails it.
pub fn soak_serve(root: &Path, seconds: u64, connections: u64) -> Result<(), TaskError> {
    let arguments = ["test", "--package", "agentd-workspace", "--test", "it", "--", "load::", "--nocapture"];
    Step::cargo("soak serve", &arguments)
        .variable("LOAD_SECONDS", &seconds.to_string())
        .variable("LOAD_CONNECTIONS", &connections.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Kills `agentd` with `kill -9` in the middle of runs of agents, at random moments, and looks for processes, work and states
/// that are not as they should be; then has an agent print a log of a gigabyte.
///
/// # Errors
///
/// Those of the test run: an orphan, a commit or a worktree that is lost, a wrong state, a changed file of the user's.
pub fn soak_cocode(root: &Path, runs: u32, log_megabytes: u32) -> Result<(), TaskError> {
    let arguments = ["test", "--package", "agentd-workspace", "--test", "it", "--"];
    let arguments =
        [&arguments[..], &["cocode::crashes::", "cocode::logs::", "--nocapture", "--test-threads", "1"]]
            .concat();
    Step::cargo("soak cocode", &arguments)
        .variable("CRASH_RUNS", &runs.to_string())
        .variable("LOG_MEGABYTES", &log_megabytes.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Kills `agentd codali run` with `kill -9` at random moments, again and again, resumes it, and compares the end with that of a flow
/// that was not killed.
///
/// # Errors
///
/// Those of the test run: another end, an agent that is called again for a reply that was kept, a command that runs twice.
pub fn soak_codali(root: &Path, runs: u32) -> Result<(), TaskError> {
    let arguments = ["test", "--package", "agentd-workspace", "--test", "it", "--", "codali::flow_crashes::"];
    let arguments = [&arguments[..], &["--nocapture"]].concat();
    Step::cargo("soak codali", &arguments)
        .variable("FLOW_CRASH_RUNS", &runs.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Kills `agentd new --model` with `kill -9` at random moments, again and again, resumes it, and compares the end with that of a
/// session that was not killed.
///
/// # Errors
///
/// Those of the test run: another end, a program that is called again for a reply that had arrived, a command that runs twice.
pub fn soak_loop(root: &Path, runs: u32) -> Result<(), TaskError> {
    let arguments =
        ["test", "--package", "agentd-workspace", "--test", "it", "--", "session::loop_crashes::"];
    let arguments = [&arguments[..], &["--nocapture"]].concat();
    Step::cargo("soak loop", &arguments)
        .variable("LOOP_CRASH_RUNS", &runs.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Kills `agentd review` with `kill -9` at random moments of drafting, trying and landing, and checks after each that no draft
/// is lost and that the landing is whole or absent. A round has three kills.
///
/// # Errors
///
/// Those of the test run.
pub fn soak_review(root: &Path, rounds: u32) -> Result<(), TaskError> {
    let arguments = ["test", "--package", "agentd-workspace", "--test", "it", "--", "review::crashes::"];
    let arguments = [&arguments[..], &["--nocapture"]].concat();
    Step::cargo("soak review", &arguments)
        .variable("REVIEW_CRASH_ROUNDS", &rounds.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// Has every tool over every transport and every reader of a text go through inputs of hostile sizes and shapes, again and
/// again, in processes of 256 MB.
///
/// # Errors
///
/// Those of the test run; a process that dies, an answer that does not come in time or that is too long fails it.
pub fn soak_hostile(root: &Path, seconds: u64) -> Result<(), TaskError> {
    let arguments = ["test", "--package", "agentd-workspace", "--test", "it", "--", "hostile::"];
    let arguments = [&arguments[..], &["--nocapture"]].concat();
    Step::cargo("soak hostile", &arguments)
        .variable("HOSTILE_SECONDS", &seconds.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}

/// The size of a run of `soak fleet`.
#[derive(Clone, Copy, Debug)]
pub struct FleetSoak {
    /// Tasks, made a multiple of the number of scripted agents.
    pub tasks: u32,
    /// Hosts, each in a network namespace of its own.
    pub workers: u32,
    /// Kills with `kill -9` of hosts, server and submitter.
    pub kills: u32,
    /// Links that are cut, for 1 to 40 seconds.
    pub partitions: u32,
    /// Links that delay by half a second, for 1 to 40 seconds.
    pub delays: u32,
    /// Power cuts of the server, which then has the files of its last sync.
    pub power_cuts: u32,
    /// The most that each link delays all the time, in milliseconds and in each direction.
    pub latency_ms: u32,
    /// The seed by which moments and victims are drawn; from the time, and printed, if there is none.
    pub seed: Option<u64>,
}

/// Runs a fleet of real processes, kills its hosts, its server and its submitter at random moments, cuts and delays links, cuts
/// the power of the server, and prints how far it is, and at the end a table of what came of the tasks. Needs root, for the network
/// namespaces of the hosts.
///
/// # Errors
///
/// Those of the test run: a task that is lost, resolved twice or with another verdict than on one machine, a damaged repository, anything
/// that is left over.
pub fn soak_fleet(root: &Path, size: FleetSoak) -> Result<(), TaskError> {
    let arguments =
        ["test", "--package", "agentd-workspace", "--test", "fleet_soak", "--", "--ignored", "--nocapture"];
    let seed = size.seed.unwrap_or_else(seed_of_now);
    println!("== soak fleet: seed {seed}");
    Step::cargo("soak fleet", &arguments)
        .variable("FLEET_SOAK_TASKS", &size.tasks.to_string())
        .variable("FLEET_SOAK_WORKERS", &size.workers.to_string())
        .variable("FLEET_SOAK_KILLS", &size.kills.to_string())
        .variable("FLEET_SOAK_PARTITIONS", &size.partitions.to_string())
        .variable("FLEET_SOAK_DELAYS", &size.delays.to_string())
        .variable("FLEET_SOAK_POWER_CUTS", &size.power_cuts.to_string())
        .variable("FLEET_SOAK_LATENCY_MS", &size.latency_ms.to_string())
        .variable("FLEET_SOAK_SEED", &seed.to_string())
        .folder(root)
        .run()
        .map(|_| ())
}
