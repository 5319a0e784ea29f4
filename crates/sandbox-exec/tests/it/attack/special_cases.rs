//! Cases of the attack corpus that take more than one command and a look at what came of it.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, prlimit};
use sandbox_exec::{Ending, OutputStream, ShellCommand, SpawnError, WaitError};
use serde_json::Value;

use crate::attack::cases::Scene;
use crate::attack::exec_attacks::{Failure, text};
use crate::ground::{marker, stdout, survivors};

/// Why a case is another crate's business.
pub(crate) fn elsewhere(name: &str) -> Option<&'static str> {
    matches!(name, "git-nested-submodule" | "vscode-tasks").then_some(
        "what a command makes under protected names is judged when a copy-on-write layer is adopted",
    )
}

/// Whether a case is about running commands and not about what they may do.
pub(crate) fn is_only_for_full(name: &str) -> bool {
    matches!(
        name,
        "concurrent-32"
            | "concurrent-kill-one"
            | "daemon-crash-idempotence"
            | "sandbox-setup-race"
            | "suspend"
    ) || name == "timeout-fires"
}

/// Why a case that succeeds or fails without any layer says nothing about them on this machine.
pub(crate) fn says_nothing_here(name: &str) -> Option<&'static str> {
    match name {
        "coredump" => Some("whether there are core files is a setting of the machine"),
        "x32-syscalls" | "i386-syscalls" | "io-uring" | "keyring" => {
            let attempt = match name {
                "x32-syscalls" => &["syscall", "N"][..],
                "i386-syscalls" => &["int80", "N"],
                "io-uring" => &["io_uring_setup"],
                _ => &["keyrings"],
            };
            (!succeeds_outside(attempt)).then_some("this machine does not let anybody do it")
        }
        _ => None,
    }
}

/// Tries one way out of a sandbox where there is none.
fn succeeds_outside(attempt: &[&str]) -> bool {
    let status = Command::new("python3").arg("-c").arg(include_str!("../probe.py")).args(attempt).output();
    status.is_ok_and(|output| output.status.success())
}

/// Runs such a case, if it is one.
pub(crate) fn run(name: &str, case: &Value, scene: &Scene) -> Option<Result<(), Failure>> {
    let held = match name {
        "concurrent-32" => thirty_two_at_once(scene),
        "concurrent-kill-one" => kill_one_of_two(scene),
        "daemon-crash-idempotence" => run_once(scene, text(case, "command")),
        "flood-both-interleaved" => flood_both(scene, text(case, "command")),
        "sandbox-setup-race" => shortage(scene, text(case, "command")),
        "suspend" => require(
            include_str!("../../../src/policy/shell_command.rs").contains("suspended does not count")
                && include_str!("../../../../../docs/commands.md").contains("suspended"),
            "not documented",
        ),
        "utf8-split-at-cap" => split_at_cap(scene, text(case, "command")),
        "timeout-fires" => thirty_seconds(scene, text(case, "command")),
        _ => return None,
    };
    Some(held.map_err(Failure::Holds))
}

fn require(holds: bool, what: impl ToString) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_string()) }
}

fn thirty_two_at_once(scene: &Scene) -> Result<(), String> {
    let started = Instant::now();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..32)
            .map(|i| scope.spawn(move || stdout(&scene.ground.run(&format!("sleep 1; echo {i}")))))
            .collect();
        let outputs = threads.into_iter().map(|thread| thread.join().unwrap()).enumerate();
        outputs.filter(|(i, output)| *output != format!("{i}\n")).map(|(_, output)| output).collect()
    });
    require(wrong.is_empty(), format!("mixed up: {wrong:?}"))?;
    // One after the other they would take 32 seconds; the rest is for a busy machine.
    require(started.elapsed() < Duration::from_secs(25), "not at once")
}

fn kill_one_of_two(scene: &Scene) -> Result<(), String> {
    let (ground, marker) = (&scene.ground, marker());
    let spawn =
        |text: String| ground.launcher.spawn(&ground.policy, &ShellCommand::new(&text).unwrap()).unwrap();
    let first = spawn(format!("(setsid sh -c 'sleep 300; : {marker}' &); echo ready; sleep 300"));
    let second = spawn("until test -e go; do sleep 0.05; done; echo untouched".into());
    let killer = first.killer();
    let outcome = first.wait_with(&mut |_: OutputStream, _: &[u8]| killer.cancel(), None).unwrap();
    require(outcome.ending == Ending::Cancelled, outcome.ending)?;
    require(survivors(&marker).is_empty(), "a survivor")?;
    fs::write(ground.workspace().join("go"), "").unwrap();
    let other = second.wait().unwrap();
    require(stdout(&other) == "untouched\n", format!("the other one: {other:?}"))
}

/// The spawner dies after the command ran and before its result was taken: nobody runs it a second time.
fn run_once(scene: &Scene, text: &str) -> Result<(), String> {
    let ground = &scene.ground;
    let command = ShellCommand::new(&format!("{text}; echo done; sleep 300")).unwrap();
    let running = ground.launcher.spawn(&ground.policy, &command).unwrap();
    let spawner = scene.spawner();
    let ended = running.wait_with(
        &mut |_: OutputStream, _: &[u8]| {
            let _ = rustix::process::kill_process(spawner, rustix::process::Signal::KILL);
        },
        None,
    );
    require(matches!(ended, Err(WaitError::Lost)), format!("not lost: {ended:?}"))?;
    require(stdout(&ground.run("echo next")) == "next\n", "no new spawner")?;
    let log = fs::read_to_string(ground.workspace().join("log.txt")).unwrap_or_default();
    require(log == "x\n", format!("the log holds {log:?}"))
}

/// Both streams flow, whichever of them is read, until the time is up. Beside the bombs of other cases it may take a while
/// before anything is printed.
fn flood_both(scene: &Scene, text: &str) -> Result<(), String> {
    for seconds in [1, 4, 16, 60] {
        let outcome = scene.ground.run_within(text, Duration::from_secs(seconds));
        require(
            matches!(outcome.ending, Ending::TimedOut { .. }),
            format!("it ended with {}", outcome.ending),
        )?;
        // More than the pipes hold: a stream that nobody reads would have stopped the other one.
        if outcome.stdout.total_bytes > 1 << 17 && outcome.stderr.total_bytes > 1 << 17 {
            return Ok(());
        }
    }
    Err("one stream only".into())
}

/// The spawner runs out of descriptors while it sets a sandbox up: that is an error, never less confinement.
fn shortage(scene: &Scene, text: &str) -> Result<(), String> {
    let ground = &scene.ground;
    let set_limit = |limit| {
        let limits = Rlimit { current: Some(limit), maximum: Some(4096) };
        prlimit(Some(scene.spawner()), Resource::Nofile, limits).unwrap();
    };
    let command = ShellCommand::new(text).unwrap();
    for limit in 5..30 {
        set_limit(limit);
        match ground.launcher.spawn(&ground.policy, &command) {
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
    require(ground.launcher.spawn(&ground.policy, &command).is_err(), "no error in a shortage")?;
    set_limit(4096);
    let outcome = ground.run("grep -c -e NoNewPrivs:.1 -e Seccomp:.2 /proc/self/status");
    require(stdout(&outcome) == "2\n", format!("less confined afterwards: {outcome:?}"))
}

fn split_at_cap(scene: &Scene, text: &str) -> Result<(), String> {
    let ground = &scene.ground;
    for cap in 3990..4010 {
        let mut policy = ground.policy.clone();
        policy.limits.output_bytes_per_stream = cap;
        let running = ground.launcher.spawn(&policy, &ShellCommand::new(text).unwrap()).unwrap();
        let shown = running.wait().map_err(|error| error.to_string())?.stdout.text(|_| String::new());
        require(!shown.contains('\u{fffd}') && shown.len() <= cap, format!("at {cap}: {shown}"))?;
    }
    Ok(())
}

fn thirty_seconds(scene: &Scene, text: &str) -> Result<(), String> {
    let ground = &scene.ground;
    let command = ShellCommand::new(&format!("echo early; {text}")).unwrap();
    let outcome = ground.launcher.spawn(&ground.policy, &command).unwrap().wait().unwrap();
    let limit = Duration::from_secs(30);
    require(outcome.ending == Ending::TimedOut { limit }, outcome.ending)?;
    require(stdout(&outcome) == "early\n" && outcome.duration >= limit, format!("{outcome:?}"))
}
