//! A fault of the machine that judges is neither a verdict on delivered work nor a reason to refuse it.

use std::ffi::OsString;
use std::path::Path;

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, Runner, RunnerConfig, RunnerError};
use sandbox_exec::SpawnerProgram;
use test_support::write_program;

use crate::elsewhere::machines::{Machines, judge};
use crate::fixture::{MARKED, agent};

/// The commands of git that a judgement uses.
const COMMANDS: [&str; 9] = [
    "index-pack",
    "ls-tree",
    "cat-file",
    "rev-list",
    "pack-objects",
    "unpack-objects",
    "merge-base",
    "worktree",
    "diff-index",
];

/// The ways in which this machine makes git fail.
const FAULTS: [&str; 3] = [
    "echo 'fatal: write error: No space left on device' >&2; exit 128",
    "kill -KILL $$",
    "echo \"fatal: Unable to create '/somewhere/packed-refs.lock': File exists.\" >&2; exit 128",
];

fn checked() -> AgentDefinition {
    AgentDefinition { check: Some("true".into()), clean_tree: true, ..agent("a", "true") }
}

/// Returns a configuration of home in which a command of git fails.
fn with_fault(machines: &Machines, command: &str, fault: &str) -> RunnerConfig {
    let folder = machines.home.root.join("faulty");
    std::fs::create_dir_all(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let git =
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file()).unwrap();
    let text = format!(
        "#!/bin/sh\nfor word; do [ \"$word\" = {command} ] && {{ {fault}; }}; done\nexec {} \"$@\"\n",
        git.display()
    );
    write_program(&folder.join("git"), &text);
    let mut config = machines.home.config();
    config.host.own_path = prepended(&folder, path);
    config
}

fn prepended(folder: &Path, path: OsString) -> OsString {
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path))).unwrap()
}

#[test]
fn a_git_that_this_machine_makes_fail_is_no_verdict() {
    let mut failed = 0;
    for (index, command) in COMMANDS.into_iter().enumerate() {
        let fault = FAULTS[index % FAULTS.len()];
        let machines = Machines::new();
        let mut work = machines.forge(&format!("echo {index} > x; git add x; {MARKED}"));
        work.is_clean = Some(true);
        let record = machines.begin(&machines.home.runner(), checked());
        // A runner may not even open.
        let faulty = Runner::open(with_fault(&machines, command, fault));
        let judged = faulty.and_then(|runner| judge(&runner, &record, &work));
        match judged {
            Ok(judged) => assert_eq!(judged.state, AgentState::Ready, "{command}, {fault}: {judged:?}"),
            Err(RunnerError::Delivery { source, .. }) => {
                assert!(!source.is_about_delivery(), "{command}, {fault}: {source}");
                failed += 1;
            }
            Err(_) => failed += 1,
        }
        let judged = judge(&machines.home.runner(), &record, &work).unwrap();
        assert_eq!(judged.state, AgentState::Ready, "{command}, {fault}: {judged:?}");
    }
    // The control: most of them are needed.
    assert!(failed > COMMANDS.len() / 2, "{failed}");
}

#[test]
fn a_check_that_this_machine_cannot_run_is_no_verdict() {
    let machines = Machines::new();
    let record = machines.begin(&machines.home.runner(), checked());
    let mut work = machines.forge(MARKED);
    work.is_clean = Some(true);
    let broken = || {
        let spawner = SpawnerProgram::at(machines.home.root.join("missing"));
        Runner::open(RunnerConfig { spawner, ..machines.home.config() }).unwrap()
    };
    let refused = judge(&broken(), &record, &work);
    assert!(matches!(&refused, Err(RunnerError::CheckNotRun { .. })), "{refused:?}");
    let kept = broken().record(&record.key()).unwrap().unwrap();
    assert_eq!((kept.verdict, kept.state), (None, AgentState::Pending));
    let judged = judge(&machines.home.runner(), &record, &work).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    // The control: a check that fails is a verdict.
    let definition = AgentDefinition { check: Some("false".into()), ..agent("b", "true") };
    let record = machines.begin(&machines.home.runner(), definition);
    let other = machines.forge(&format!("echo other > x; git add x; {MARKED}"));
    let judged = judge(&machines.home.runner(), &record, &other).unwrap();
    assert_eq!(judged.state, AgentState::Completed, "{judged:?}");
}
