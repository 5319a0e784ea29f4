//! Cases of the attack corpus that need more than one command and its result.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, prlimit};
use sandbox_exec::{Ending, Outcome, OutputStream, ShellCommand, SpawnError, WaitError};
use serde_json::Value;

use crate::attack::case_kind::Kind;
use crate::attack::cases::Scene;
use crate::attack::exec_attacks::{Failure, text};
use crate::fixture::{marker, stdout, survivors};

/// Returns the reason that another crate covers a case.
pub(crate) fn elsewhere(case: &Value) -> Option<&'static str> {
    let check = case["check"].as_str().unwrap_or_default();
    (check.starts_with("post-run check") || check == "blocked or reported").then_some(
        "what a command makes under protected names is judged when a copy-on-write layer is adopted",
    )
}

/// Returns the reason that a case, whose result is the same without any step, proves nothing on this machine.
pub(crate) fn says_nothing_here(case: &Value) -> Option<&'static str> {
    let command = text(case, "command");
    if text(case, "check").starts_with("no core") {
        return Some("whether there are core files is a setting of the machine");
    }
    let marks: [(&str, &[&str]); 4] = [
        ("0x40000000", &["syscall", "N"]),
        ("int80", &["int80", "N"]),
        ("io_uring", &["io_uring_setup"]),
        ("keyctl", &["keyrings"]),
    ];
    let (_, attempt) = marks.into_iter().find(|(mark, _)| command.contains(mark))?;
    (!succeeds_outside(attempt)).then_some("this machine lets no user do it")
}

/// Tries one escape without a sandbox.
fn succeeds_outside(attempt: &[&str]) -> bool {
    let status = Command::new("python3").arg("-c").arg(include_str!("../probe.py")).args(attempt).output();
    status.is_ok_and(|output| output.status.success())
}

/// Runs such a case, if it is one.
pub(crate) fn run(case: &Value, scene: &Scene) -> Option<Result<(), Failure>> {
    let command = text(case, "command");
    let held = match Kind::of(case) {
        Kind::Simple => return None,
        Kind::AtOnce(count) => all_at_once(scene, command, count),
        Kind::CancelOne => kill_one_of_two(scene),
        Kind::Once => run_once(scene, command),
        Kind::Flood => flood_both(scene, command),
        Kind::Shortage => shortage(scene, command),
        Kind::Documented => require(
            include_str!("../../../src/policy/shell_command.rs").contains("suspended does not count")
                && include_str!("../../../../../docs/commands.md").contains("suspended"),
            "not documented",
        ),
        Kind::SplitAtCap => split_at_cap(scene, command),
        Kind::DefaultTimeout => default_timeout(scene, command),
    };
    Some(held.map_err(Failure::Holds))
}

fn require(holds: bool, what: impl ToString) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_string()) }
}

/// The corpus's limit for all of them together, on an otherwise idle machine.
const ALL_AT_ONCE: Duration = Duration::from_secs(5);

/// Every command waits until all of them run, so that none ends unless they run at once, without a clock, which on a busy
/// machine would measure the load. In a soak, which has the machine to itself, the corpus's limit applies.
fn all_at_once(scene: &Scene, command: &str, count: u32) -> Result<(), String> {
    let command = scene.command(command);
    let mut least = Duration::MAX;
    for round in 0..4 {
        let together = |i: u32| {
            let all = format!("$(ls | grep -c '^begun.{round}.') -ge {count}");
            format!("touch begun.{round}.{i}; until test {all}; do sleep 0.05; done; i={i}; {command}")
        };
        let started = Instant::now();
        let wrong: Vec<_> = std::thread::scope(|scope| {
            let run = |i| scene.fixture.run_within(&together(i), Duration::from_secs(90));
            let threads: Vec<_> = (0..count).map(|i| scope.spawn(move || run(i))).collect();
            let outcomes = (0..count).zip(threads).map(|(i, thread)| (i, thread.join().unwrap()));
            let is_own =
                |i, outcome: &Outcome| stdout(outcome) == format!("{i}\n") && outcome.ending.is_success();
            outcomes.filter(|(i, outcome)| !is_own(*i, outcome)).collect()
        });
        require(wrong.is_empty(), format!("mixed up, or not at once: {wrong:?}"))?;
        least = least.min(started.elapsed());
        if std::env::var_os("SOAK_FACTOR").is_none() || least < ALL_AT_ONCE {
            return Ok(());
        }
    }
    Err(format!("took {least:?}, allowed are {ALL_AT_ONCE:?}"))
}

fn kill_one_of_two(scene: &Scene) -> Result<(), String> {
    let (fixture, marker) = (&scene.fixture, marker());
    let spawn =
        |text: String| fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap();
    let first = spawn(format!("(setsid sh -c 'sleep 300; : {marker}' &); echo ready; sleep 300"));
    let second = spawn("until test -e go; do sleep 0.05; done; echo untouched".into());
    let killer = first.killer();
    let outcome = first.wait_with(&mut |_: OutputStream, _: &[u8]| killer.cancel(), None).unwrap();
    require(outcome.ending == Ending::Cancelled, outcome.ending)?;
    require(survivors(&marker).is_empty(), "a survivor")?;
    fs::write(fixture.workspace().join("go"), "").unwrap();
    let other = second.wait().unwrap();
    require(stdout(&other) == "untouched\n", format!("the other one: {other:?}"))
}

/// The spawner dies after the command ran and before its result was taken: it is not run a second time.
fn run_once(scene: &Scene, text: &str) -> Result<(), String> {
    let fixture = &scene.fixture;
    let command = ShellCommand::new(&format!("{text}; echo done; sleep 300")).unwrap();
    let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
    let spawner = scene.spawner();
    let ended = running.wait_with(
        &mut |_: OutputStream, _: &[u8]| {
            let _ = rustix::process::kill_process(spawner, rustix::process::Signal::KILL);
        },
        None,
    );
    require(matches!(ended, Err(WaitError::Lost)), format!("not lost: {ended:?}"))?;
    require(stdout(&fixture.run("echo next")) == "next\n", "no new spawner")?;
    let log = fs::read_to_string(fixture.workspace().join("log.txt")).unwrap_or_default();
    require(log == "x\n", format!("the log holds {log:?}"))
}

/// Both streams flow, whichever of them is read, until the time is up. Alongside the bombs of other cases it may take a
/// while before anything is printed.
fn flood_both(scene: &Scene, text: &str) -> Result<(), String> {
    for seconds in [1, 4, 16, 60] {
        let outcome = scene.fixture.run_within(text, Duration::from_secs(seconds));
        require(
            matches!(outcome.ending, Ending::TimedOut { .. }),
            format!("it ended with {}", outcome.ending),
        )?;
        // More than the pipes hold: a stream without a reader would have blocked the other one.
        if outcome.stdout.total_bytes > 1 << 17 && outcome.stderr.total_bytes > 1 << 17 {
            return Ok(());
        }
    }
    Err("one stream only".into())
}

/// The spawner runs out of descriptors while it sets a sandbox up: that is an error, never less confinement.
fn shortage(scene: &Scene, text: &str) -> Result<(), String> {
    let fixture = &scene.fixture;
    let set_limit = |limit| {
        let limits = Rlimit { current: Some(limit), maximum: Some(4096) };
        prlimit(Some(scene.spawner()), Resource::Nofile, limits).unwrap();
    };
    let command = ShellCommand::new(text).unwrap();
    for limit in 5..30 {
        set_limit(limit);
        match fixture.launcher.spawn(&fixture.policy, &command) {
            Err(
                SpawnError::Step(_)
                | SpawnError::NotStarted
                | SpawnError::Unconfirmed
                | SpawnError::SpawnerGone(_),
            ) => {}
            Err(error) => return Err(format!("with {limit} descriptors: {error}")),
            Ok(running) => {
                let ending = running.wait().map_err(|error| error.to_string())?.ending;
                require(ending.is_success(), format!("with {limit} descriptors: {ending}"))?;
            }
        }
    }
    set_limit(5);
    require(fixture.launcher.spawn(&fixture.policy, &command).is_err(), "no error in a shortage")?;
    set_limit(4096);
    let outcome = fixture.run("grep -c -e NoNewPrivs:.1 -e Seccomp:.2 /proc/self/status");
    require(stdout(&outcome) == "2\n", format!("less confined afterwards: {outcome:?}"))
}

fn split_at_cap(scene: &Scene, text: &str) -> Result<(), String> {
    let fixture = &scene.fixture;
    for cap in 3990..4010 {
        let mut policy = fixture.policy.clone();
        policy.limits.output_bytes_per_stream = cap;
        let running = fixture.launcher.spawn(&policy, &ShellCommand::new(text).unwrap()).unwrap();
        let output = running.wait().map_err(|error| error.to_string())?.stdout.text(|_| String::new());
        require(!output.contains('\u{fffd}') && output.len() <= cap, format!("at {cap}: {output}"))?;
    }
    Ok(())
}

fn default_timeout(scene: &Scene, text: &str) -> Result<(), String> {
    let fixture = &scene.fixture;
    let command = ShellCommand::new(&format!("echo early; {text}")).unwrap();
    let outcome = fixture.launcher.spawn(&fixture.policy, &command).unwrap().wait().unwrap();
    let limit = Duration::from_secs(30);
    require(outcome.ending == Ending::TimedOut { limit }, outcome.ending)?;
    require(stdout(&outcome) == "early\n" && outcome.duration >= limit, format!("{outcome:?}"))
}
