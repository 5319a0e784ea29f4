//! Starts and ends of commands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::pthread::{pthread_kill, pthread_self};
use nix::sys::signal::Signal;
use sandbox_exec::{Ending, Level, ShellCommand};

use crate::fixture::{Fixture, stderr, stdout};

/// The levels that can be requested; each gives at most what the machine supports.
const LEVELS: [Level; 5] = [Level::None, Level::Process, Level::Landlock, Level::Namespaces, Level::Full];

#[test]
fn a_command_prints_and_exits_at_every_level() {
    for level in LEVELS {
        let fixture = Fixture::at_level(level);
        let outcome = fixture.run("echo out; echo err >&2; exit 7");
        assert_eq!(outcome.ending, Ending::Exited(7), "{level}");
        assert_eq!((stdout(&outcome), stderr(&outcome)), ("out\n".into(), "err\n".into()), "{level}");
        assert!(outcome.output_complete, "{level}");
    }
}

#[test]
fn the_shells_own_exit_is_never_taken_for_a_kill() {
    let fixture = Fixture::new();
    let cases = [
        ("exit 0", "exit code 0"),
        ("exit 124", "exit code 124"),
        ("sh -c 'kill -9 $$'; exit $?", "exit code 137"),
        ("no-such-command-xyz", "exit code 127"),
        ("kill -TERM $$", "exit code 143 (SIGTERM)"),
        ("kill -SEGV $$", "exit code 139 (SIGSEGV)"),
        ("kill -9 $$", "exit code 137 (SIGKILL)"),
    ];
    for (text, ending) in cases {
        assert_eq!(fixture.run(text).ending.to_string(), ending, "{text}");
    }
}

#[test]
fn a_command_runs_in_the_workspace_or_the_folder_it_names() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.workspace().join("sub")).unwrap();
    assert_eq!(stdout(&fixture.run("pwd")).trim(), fixture.workspace().to_str().unwrap());
    let command = ShellCommand::new("pwd").unwrap().in_directory(fixture.policy.workspace.join("sub"));
    let outcome = fixture.launcher.spawn(&fixture.policy, &command).unwrap().wait().unwrap();
    assert_eq!(stdout(&outcome).trim(), fixture.workspace().join("sub").to_str().unwrap());
}

#[test]
fn a_missing_working_directory_is_a_step_error_with_its_name() {
    let fixture = Fixture::new();
    let command = ShellCommand::new("pwd").unwrap().in_directory(fixture.workspace().join("missing"));
    let error = fixture.launcher.spawn(&fixture.policy, &command).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot enter the working directory: No such file or directory (os error 2)"
    );
}

#[test]
fn standard_input_is_at_its_end() {
    assert_eq!(stdout(&Fixture::new().run("read x; echo got:$x:$?")), "got::1\n");
}

#[test]
fn the_environment_is_cleared_to_the_list_and_what_was_added() {
    let mut fixture = Fixture::new();
    fixture.policy.environment.insert("FROM_USER".into(), "1".into());
    let command = ShellCommand::new("env | cut -d= -f1 | sort")
        .unwrap()
        .with_environment(BTreeMap::from([("FROM_REQUEST".into(), "2".into())]))
        .unwrap();
    let outcome = fixture.launcher.spawn(&fixture.policy, &command).unwrap().wait().unwrap();
    let expected = [
        "CI",
        "FROM_REQUEST",
        "FROM_USER",
        "GIT_EDITOR",
        "GIT_PAGER",
        "HOME",
        "LANG",
        "NO_COLOR",
        "PAGER",
        "PATH",
        "PWD",
        "TERM",
        "TMPDIR",
        "USER",
    ];
    assert_eq!(stdout(&outcome).split_whitespace().collect::<Vec<_>>(), expected);
}

#[test]
fn a_pipe_to_a_reader_that_ends_kills_the_writer() {
    // SIGPIPE and the signal mask have their defaults, whatever this test process has set.
    let outcome = Fixture::new().run("yes | head -n 1; grep -E 'Sig(Blk|Ign)' /proc/self/status");
    assert_eq!(stdout(&outcome), "y\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

#[test]
fn a_command_has_no_terminal_and_a_session_of_its_own() {
    let outcome = Fixture::new().run("(echo x >/dev/tty) 2>/dev/null || echo none");
    assert_eq!(stdout(&outcome), "none\n");
}

#[test]
fn only_the_three_standard_descriptors_are_open() {
    // The fourth is that with which `ls` reads the folder.
    assert_eq!(stdout(&Fixture::new().run("ls /proc/self/fd")), "0\n1\n2\n3\n");
}

#[test]
fn early_closed_output_is_not_the_end() {
    let outcome = Fixture::new().run("exec >&- 2>&-; sleep 0.3; exit 7");
    assert_eq!(outcome.ending, Ending::Exited(7));
    assert!(outcome.duration >= Duration::from_millis(300));
}

#[test]
fn a_launcher_serves_many_threads_at_once() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let fixture = &fixture;
            scope.spawn(move || {
                for round in 0..4 {
                    let outcome = fixture.run(&format!("echo {number}.{round}"));
                    assert_eq!(stdout(&outcome), format!("{number}.{round}\n"));
                }
            });
        }
    });
}

#[test]
fn a_command_of_the_longest_length_runs() {
    let text = format!("true {}", "a".repeat(sandbox_exec::COMMAND_LIMIT_BYTES - 5));
    assert_eq!(Fixture::new().run(&text).ending, Ending::Exited(0));
}

/// A program that handles signals receives them in any thread.
#[test]
fn signals_to_the_thread_that_starts_a_command_change_nothing() {
    signal_hook::flag::register(Signal::SIGUSR2 as i32, Arc::default()).unwrap();
    let fixture = Fixture::new();
    let (starter, is_over) = (pthread_self(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                pthread_kill(starter, Signal::SIGUSR2).unwrap();
                thread::sleep(Duration::from_micros(20));
            }
        });
        let outcomes: Vec<_> = (0..20)
            .map(|_| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fixture.run("exit 7").ending)))
            .collect();
        is_over.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            assert_eq!(outcome.expect("it starts"), Ending::Exited(7));
        }
    });
}
