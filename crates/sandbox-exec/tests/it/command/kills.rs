//! Nothing of a command survives its end, its deadline, its cancellation, or its launcher.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox_exec::{Ending, Level, OutputStream, ShellCommand};

use crate::fixture::{Fixture, HANG, marker, stdout, survivors};

/// The two ways in which a kill reaches descendants: through the kernel's namespace, and by search.
const LEVELS: [Level; 2] = [Level::Full, Level::Process];

/// Ways to leave the shell's process group and session; `M` is a marker in the arguments of each.
const ESCAPES: [&str; 5] = [
    "sleep 300 M &",
    "setsid sleep 300 M >/dev/null 2>&1 &",
    "(setsid sh -c 'sleep 300 & sleep 300; : M' >/dev/null 2>&1 &) &",
    "nohup sh -c 'trap : HUP TERM INT; while :; do sleep 1; done; : M' >/dev/null 2>&1 &",
    "for i in 1 2 3 4 5 6 7 8; do (setsid sh -c 'sleep 300; : M' &) & done",
];

fn escape(text: &str, marker: &str) -> String {
    // `sleep` takes no name: it is hidden in the arguments of the shell that runs it.
    text.replace("sleep 300 M", "sh -c 'sleep 300; : M'").replace('M', marker)
}

#[test]
fn background_processes_end_with_the_command() {
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        for text in ESCAPES {
            let marker = marker();
            let outcome = fixture.run(&format!("{}\necho done", escape(text, &marker)));
            assert_eq!(outcome.ending, Ending::Exited(0), "{level}: {text}");
            assert_eq!(stdout(&outcome), "done\n", "{level}: {text}");
            assert!(outcome.duration < HANG, "{level}: {text}: {:?}", outcome.duration);
            assert_eq!(survivors(&marker), Vec::<String>::new(), "{level}: {text}");
        }
    }
}

#[test]
fn the_deadline_reaches_everything_and_keeps_what_was_printed() {
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        for text in ESCAPES {
            let marker = marker();
            let endless = format!("echo early; {}\nsleep 300", escape(text, &marker));
            let (limit, outcome) = fixture.run_until_stopped(&endless, |outcome| !stdout(outcome).is_empty());
            assert_eq!(outcome.ending, Ending::TimedOut { limit }, "{level}: {text}");
            assert_eq!(stdout(&outcome), "early\n", "{level}: {text}");
            assert!(outcome.duration < HANG, "{level}: {text}: {:?}", outcome.duration);
            assert_eq!(survivors(&marker), Vec::<String>::new(), "{level}: {text}");
        }
    }
}

#[test]
fn a_stopped_shell_is_killed_at_the_deadline() {
    for level in LEVELS {
        let limit = Duration::from_millis(300);
        let outcome = Fixture::at_level(level).run_within("kill -STOP $$; echo never", limit);
        assert_eq!(outcome.ending, Ending::TimedOut { limit }, "{level}");
        assert_eq!(stdout(&outcome), "", "{level}");
    }
}

#[test]
fn a_closed_output_does_not_hide_the_deadline() {
    let limit = Duration::from_millis(300);
    let outcome = Fixture::new().run_within("exec >/dev/null 2>&1; sleep 60", limit);
    assert_eq!(outcome.ending, Ending::TimedOut { limit });
}

#[test]
fn cancelling_one_command_leaves_the_other_alone() {
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        let (first, second) = (marker(), marker());
        let spawn = |text: String| {
            fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap()
        };
        let cancelled = spawn(format!("(setsid sh -c 'sleep 300; : {first}' &); echo ready; sleep 300"));
        let other = spawn(format!("sh -c 'until test -e go; do sleep 0.05; done; : {second}'; echo fine"));
        await_survivors(&second, 2);
        let killer = cancelled.killer();
        let outcome = cancelled.wait_with(&mut |_: OutputStream, _: &[u8]| killer.cancel(), None).unwrap();
        assert_eq!(outcome.ending, Ending::Cancelled, "{level}");
        assert_eq!(survivors(&first), Vec::<String>::new(), "{level}");
        assert!(!survivors(&second).is_empty(), "{level}");
        std::fs::write(fixture.workspace().join("go"), "").unwrap();
        assert_eq!(stdout(&other.wait().unwrap()), "fine\n", "{level}");
    }
}

#[test]
fn dropping_a_running_command_kills_it() {
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        let marker = marker();
        let command =
            ShellCommand::new(&format!("(setsid sh -c 'sleep 300; : {marker}' &); sleep 300")).unwrap();
        let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
        await_survivors(&marker, 2);
        drop(running);
        await_survivors(&marker, 0);
    }
}

#[test]
fn dropping_the_launcher_kills_its_commands() {
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        let marker = marker();
        let command =
            ShellCommand::new(&format!("(setsid sh -c 'sleep 300; : {marker}' &); sleep 300")).unwrap();
        let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
        await_survivors(&marker, 2);
        drop(fixture);
        await_survivors(&marker, 0);
        assert!(running.wait().is_err(), "{level}");
    }
}

#[test]
fn killing_the_daemon_kills_its_commands() {
    // This test is also the daemon: it runs itself a second time with this variable.
    const STAND_IN: &str = "SANDBOX_EXEC_TEST_COMMAND";
    if let Ok(variable) = std::env::var(STAND_IN) {
        let (level, marker) = variable.split_once(' ').unwrap();
        let fixture = Fixture::at_level(LEVELS[level.parse::<usize>().unwrap()]);
        let text = format!("(setsid sh -c 'sleep 300; : {marker}' &); sleep 300; : {marker}");
        fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap().wait().unwrap();
        unreachable!("the command outlives its daemon");
    }
    for index in 0..LEVELS.len() {
        let (marker, folder) = (marker(), tempfile::tempdir().unwrap());
        let mut daemon = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "command::kills::killing_the_daemon_kills_its_commands"])
            .env(STAND_IN, format!("{index} {marker}"))
            // What the killed process cannot remove goes with this test's own folder.
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        await_survivors(&marker, 2);
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        await_survivors(&marker, 0);
    }
}

/// Waits until `count` processes have the marker: a hang guard, not a measure.
fn await_survivors(marker: &str, count: usize) {
    let started = Instant::now();
    while survivors(marker).len() != count {
        assert!(started.elapsed() < Duration::from_secs(20), "{:?} instead of {count}", survivors(marker));
        std::thread::sleep(Duration::from_millis(5));
    }
}
