//! Limits on the resources of a command.

use std::fs;
use std::time::Duration;

use rustix::process::geteuid;
use sandbox_exec::{Ending, Level};

use crate::attack::exec_attacks::become_ordinary;
use crate::fixture::{Fixture, stderr, stdout};

/// Tells a copy of this program that it is the ordinary user.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_LIMITS";

#[test]
fn a_command_killed_for_memory_differs_from_its_own_exit() {
    let mut fixture = Fixture::contained();
    fixture.policy.limits.memory_bytes = 64 << 20;
    // Files in memory count: no single process exceeds its own limit.
    let outcome = fixture.run("echo early; head -c 200000000 /dev/zero > /tmp/big");
    let missing = &fixture.launcher.report().missing;
    if missing.iter().any(|missing| missing.starts_with("limit on the whole command's memory")) {
        assert_eq!(outcome.ending, Ending::Exited(0), "{missing:?}");
    } else {
        assert_eq!(outcome.ending, Ending::KilledForMemory { limit_bytes: 64 << 20 });
        assert_eq!(outcome.ending.exit_code(), None);
    }
    assert_eq!(stdout(&outcome), "early\n");
    assert_eq!(fixture.run("kill -9 $$").ending.to_string(), "exit code 137 (SIGKILL)");
}

#[test]
fn in_want_of_memory_the_kernel_takes_commands_first() {
    // `sh` has the same score as the programs that it executes.
    let score =
        |level| stdout(&Fixture::at_level(level).run("cat /proc/$$/oom_score_adj /proc/self/oom_score_adj"));
    for level in [Level::Full, Level::Namespaces, Level::Landlock, Level::Process] {
        assert_eq!(score(level), "1000\n1000\n", "{level}");
    }
    // The control: a command without limits is like any other program.
    let own = fs::read_to_string("/proc/self/oom_score_adj").unwrap();
    assert_eq!(score(Level::None), own.repeat(2));
    if geteuid().is_root() {
        become_ordinary("command::limits::in_want_of_memory_the_kernel_takes_commands_first", STAND_IN);
    }
}

#[test]
fn one_process_is_refused_more_memory_than_the_limit() {
    for highest in [Level::Process, Level::Full] {
        let mut fixture = Fixture::at_level(highest);
        fixture.policy.limits.memory_bytes = 64 << 20;
        let outcome = fixture.run("python3 -c 'bytearray(1 << 30)'");
        assert_eq!(outcome.ending, Ending::Exited(1), "{highest}: {outcome:?}");
        assert!(stderr(&outcome).contains("MemoryError"), "{highest}");
    }
}

#[test]
fn processes_beyond_the_limit_are_refused() {
    let mut fixture = Fixture::new();
    fixture.policy.limits.processes = 32;
    // The namespace's own limit lets the kernel's reserve through; 600 are too many for every kind of limit.
    let text = "i=0; while [ $i -lt 600 ]; do sleep 20 & i=$((i+1)); done; echo all";
    let outcome = fixture.run_within(text, Duration::from_secs(20));
    let missing = &fixture.launcher.report().missing;
    let is_limited = !missing.iter().any(|missing| missing.starts_with("limit on processes"));
    assert!(!(is_limited && stdout(&outcome).contains("all")), "{missing:?}: {outcome:?}");
}

#[test]
fn a_limit_on_file_size_ends_the_writer() {
    let mut fixture = Fixture::new();
    fixture.policy.limits.file_size_bytes = 1 << 20;
    let outcome = fixture.run("head -c 2000000 /dev/zero > big");
    assert!(!outcome.ending.is_success(), "{outcome:?}");
    assert_eq!(fs::metadata(fixture.workspace().join("big")).unwrap().len(), 1 << 20);
}

#[test]
fn temporary_files_are_limited_together() {
    let mut fixture = Fixture::contained();
    fixture.policy.limits.temporary_bytes = 1 << 20;
    let outcome = fixture.run("head -c 2000000 /dev/zero > /tmp/big");
    assert!(stderr(&outcome).contains("No space left"), "{outcome:?}");
}
