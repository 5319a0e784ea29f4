//! No process of a command survives, however it tries and however it ends: checked over many runs.
//!
//! `SURVIVOR_RUNS` sets their number; `cargo xtask soak exec` sets a thousand.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sandbox_exec::{Ending, Level, OutputStream, ShellCommand, WaitError};
use tempfile::TempDir;

use crate::fixture::{Fixture, marker, survivors, traced_spawner};

const RUNS: usize = 200;

/// The number of commands at the same time.
const WORKERS: usize = 4;

/// The two ways in which a kill reaches descendants: through the kernel's namespace, and by search.
const LEVELS: [Level; 2] = [Level::Full, Level::Process];

/// Ways to outlive a shell; `M` is a marker in the arguments of each.
const ESCAPES: [&str; 7] = [
    "sh -c 'sleep 300; : M' &",
    "setsid sh -c 'sleep 300; : M' >/dev/null 2>&1 &",
    "(setsid sh -c 'sleep 300 & sleep 300; : M' >/dev/null 2>&1 &) &",
    "nohup sh -c 'trap : HUP TERM INT QUIT USR1; while :; do sleep 1; done; : M' >/dev/null 2>&1 &",
    "sh -c 'trap \"\" TERM; sleep 300; : M' <&0 &",
    "sh -c 'kill -STOP $$; : M' &",
    "for i in 1 2 3 4; do (setsid sh -c 'while :; do (sleep 300 & exit) ; sleep 1; done; : M' &) & done",
];

/// The way in which a run ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Itself,
    Cancel,
    Deadline,
    Spawner,
}

const ENDS: [End; 4] = [End::Itself, End::Cancel, End::Deadline, End::Spawner];

struct Scene {
    fixture: Fixture,
    tools: TempDir,
}

impl Scene {
    fn new(level: Level) -> Scene {
        let tools = tempfile::tempdir().unwrap();
        Scene { fixture: Fixture::with_spawner(traced_spawner(tools.path()), level), tools }
    }

    fn spawner(&self) -> Pid {
        let number = std::fs::read_to_string(self.tools.path().join("spawner.pid")).unwrap();
        Pid::from_raw(number.trim().parse().unwrap()).unwrap()
    }

    fn run(&self, escape: &str, end: End) {
        let (fixture, marker) = (&self.fixture, marker());
        let last = if matches!(end, End::Itself) { "" } else { "sleep 300" };
        let text = format!("{}\necho ready\n{last}", escape.replace('M', &marker));
        let timeout = if matches!(end, End::Deadline) { 1 } else { 60 };
        let command = ShellCommand::new(&text).unwrap();
        let command = command.with_timeout(sandbox_exec::Timeout::from_seconds(timeout).unwrap());
        let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
        let killer = running.killer();
        let outcome = running.wait_with(
            &mut |_: OutputStream, _: &[u8]| match end {
                End::Cancel => killer.cancel(),
                End::Spawner => drop(kill_process(self.spawner(), Signal::KILL).ok()),
                End::Itself | End::Deadline => {}
            },
            None,
        );
        let fits = match (end, &outcome) {
            (End::Itself, Ok(outcome)) => outcome.ending == Ending::Exited(0),
            (End::Cancel, Ok(outcome)) => outcome.ending == Ending::Cancelled,
            (End::Deadline, Ok(outcome)) => matches!(outcome.ending, Ending::TimedOut { .. }),
            (End::Spawner, Err(WaitError::Lost)) => true,
            _ => false,
        };
        assert!(fits, "{end:?}: {escape}: {outcome:?}");
        let level = fixture.launcher.report().level;
        match end {
            // Its init, which has lost its parent, continues alone.
            End::Spawner => await_no_survivors(&marker, escape),
            _ => assert_eq!(survivors(&marker), Vec::<String>::new(), "{level}: {end:?}: {escape}"),
        }
    }
}

#[test]
fn no_run_leaves_a_survivor() {
    let runs = std::env::var("SURVIVOR_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                // A launcher for each: the death of a spawner ends all its commands.
                let scenes = LEVELS.map(Scene::new);
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs {
                        return;
                    }
                    let escape = ESCAPES[run / 8 % ESCAPES.len()];
                    scenes[run % 2].run(escape, ENDS[run / 2 % ENDS.len()]);
                }
            });
        }
    });
    println!("{runs} runs, no survivor");
}

#[test]
fn no_survivor_when_the_daemon_is_killed() {
    // This test is also the daemon: it runs itself a second time with this variable.
    const STAND_IN: &str = "SANDBOX_EXEC_TEST_DAEMON";
    if let Ok(variable) = std::env::var(STAND_IN) {
        let (level, marker) = variable.split_once(' ').unwrap();
        let fixture = Fixture::at_level(LEVELS[level.parse::<usize>().unwrap()]);
        let running: Vec<_> = ESCAPES
            .iter()
            .map(|escape| format!("{}\nsleep 300; : {marker}", escape.replace('M', marker)))
            .map(|text| fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap())
            .collect();
        println!("ready");
        running.into_iter().next().unwrap().wait().unwrap();
        unreachable!("a command outlives its daemon");
    }
    let runs = std::env::var("SURVIVOR_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    for index in 0..(runs / 50).max(2) {
        let (marker, folder) = (marker(), tempfile::tempdir().unwrap());
        let mut daemon = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "command::survivors::no_survivor_when_the_daemon_is_killed"])
            .env(STAND_IN, format!("{} {marker}", index % LEVELS.len()))
            // What the killed process cannot remove goes with this test's own folder.
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while survivors(&marker).len() < ESCAPES.len() {
            assert!(started.elapsed() < Duration::from_secs(60), "the commands do not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        await_no_survivors(&marker, "all of them");
    }
}

/// A hang guard, not a measure.
fn await_no_survivors(marker: &str, escape: &str) {
    let started = Instant::now();
    while !survivors(marker).is_empty() {
        assert!(started.elapsed() < Duration::from_secs(20), "{escape}: {:?}", survivors(marker));
        std::thread::sleep(Duration::from_millis(5));
    }
}
