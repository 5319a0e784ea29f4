use std::fs;

use cocode_env::AgentState;
use cocode_runner::{AgentRecord, Runner, RunnerConfig, StopFlag};

use crate::fixture::{Fixture, Log, agent, request};
use test_support::copy_folder;

/// What a process would find that is started after the one that runs this script was killed: it sees the records as they are
/// while the agent is at work.
fn found_after_a_kill(fixture: &Fixture, script: &str) -> Vec<AgentRecord> {
    let script = format!("{script}; echo ready; while ! test -e go; do sleep 0.05; done");
    let log = Log::default();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            fixture.runner().run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap()
        });
        log.wait_for("ready");
        let copy = fixture.root.join("state-after");
        copy_folder(&fixture.root.join("state"), &copy);
        let opened = Runner::open(RunnerConfig { state_folder: copy, ..fixture.config() });
        fs::write(fixture.worktree().join("go"), "").unwrap();
        running.join().unwrap();
        opened.expect("what one agent has left keeps nobody out").records().unwrap()
    })
}

#[test]
fn what_an_agent_has_damaged_before_a_kill_keeps_nobody_out() {
    let damages = [
        "true",
        "rm $W/HEAD; ln -s HEAD $W/HEAD",
        "rm $W/HEAD",
        "echo nonsense > $W/HEAD",
        "rm -rf $W/index $W/logs $W/cocode",
    ];
    for damage in damages {
        let fixture = Fixture::new();
        let script = format!("W=$(git rev-parse --absolute-git-dir); {damage}");
        let records = found_after_a_kill(&fixture, &script);
        assert_eq!(records.len(), 1, "{damage}");
        assert_eq!(records[0].state, AgentState::Lost, "{damage}: {records:?}");
        let is_told = records[0].warnings.iter().any(|warning| warning.contains("git"));
        assert_eq!(is_told, damage.contains("HEAD"), "{damage}: {:?}", records[0].warnings);
    }
}
