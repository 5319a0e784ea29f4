use std::fs;

use cocode_env::AgentState;
use cocode_runner::{AgentRecord, Runner, RunnerConfig, StopFlag};

use crate::fixture::{Fixture, Log, agent, request};
use test_support::copy_folder;

/// Returns the records that a runner recovers after a kill of the one that runs this script: it opens a copy of the state
/// folder, made while the agent runs.
fn recovered_after_a_kill(fixture: &Fixture, script: &str) -> Vec<AgentRecord> {
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
        opened.expect("files of one agent do not keep the runner from opening").records().unwrap()
    })
}

#[test]
fn damage_by_an_agent_before_a_kill_does_not_keep_the_runner_from_opening() {
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
        let records = recovered_after_a_kill(&fixture, &script);
        assert_eq!(records.len(), 1, "{damage}");
        assert_eq!(records[0].state, AgentState::Lost, "{damage}: {records:?}");
        let has_warning = records[0].warnings.iter().any(|warning| warning.contains("git"));
        assert_eq!(has_warning, damage.contains("HEAD"), "{damage}: {:?}", records[0].warnings);
    }
}
