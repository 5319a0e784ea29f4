//! Git ends with the process that has started it, whatever it reads.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cocode_runner::{Host, Runner};
use test_support::write_program;

use crate::fixture::{Fixture, MARKED};

/// Names the folder of the fixture for a copy of this program that is to be killed.
const STAND_IN: &str = "COCODE_RUNNER_TEST_ORPHANS";

/// Returns the number that a process has written into a file.
fn number_in(file: &Path) -> u32 {
    let began = Instant::now();
    loop {
        match fs::read_to_string(file).map(|text| text.trim().parse()) {
            Ok(Ok(number)) => return number,
            _ => assert!(began.elapsed() < Duration::from_secs(60), "a hang guard: {}", file.display()),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Checks whether the slow process runs. One that has ended and is not awaited has no words.
fn is_alive(number: u32) -> bool {
    fs::read_to_string(format!("/proc/{number}/cmdline")).is_ok_and(|words| words.starts_with("sleep"))
}

/// Checks whether the git that has started the slow process has its memory limit, which it gets once it is guarded.
fn is_guarded(number: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap();
    let git = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim();
    let limits = fs::read_to_string(format!("/proc/{git}/limits")).unwrap();
    limits.lines().any(|line| line.starts_with("Max data size") && !line.contains("unlimited"))
}

fn wait_until(is_true: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < Duration::from_secs(60), "a hang guard");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn git_does_not_outlive_a_killed_process() {
    if let Some(root) = std::env::var_os(STAND_IN) {
        wait_for_git(&PathBuf::from(root));
        return;
    }
    let fixture = Fixture::new();
    fixture.run(MARKED);
    let (file, folder) = (fixture.root.join("number"), fixture.root.join("slow"));
    fs::create_dir(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let git =
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file()).unwrap();
    // As git with objects that take it for ever, with a process of its own.
    let text = format!(
        "#!/bin/sh\nfor word; do [ \"$word\" = pack-objects ] && {{ sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait; }}; \
         done\nexec {1} \"$@\"\n",
        file.display(),
        git.display()
    );
    write_program(&folder.join("git"), &text);
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "orphans::git_does_not_outlive_a_killed_process", "--nocapture"]);
    program.env(STAND_IN, &fixture.root).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = program.process_group(0).spawn().unwrap();
    let number = number_in(&file);
    // The control: it waits for git.
    wait_until(|| is_alive(number) && is_guarded(number));
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_until(|| !is_alive(number));
}

/// Has git check the work of the only agent.
fn wait_for_git(root: &Path) {
    let path = std::env::var_os("PATH").unwrap();
    let slow = std::iter::once(root.join("slow")).chain(std::env::split_paths(&path));
    let own_path = std::env::join_paths(slow).unwrap();
    let variables = [("HOME".into(), root.join("home").into())];
    let host = Host { variables: variables.into(), home: root.join("home"), own_path };
    let runner = Runner::open(crate::fixture::config(root, host)).unwrap();
    let record = runner.records().unwrap().remove(0);
    let _ = runner.pick(&record, true);
}
