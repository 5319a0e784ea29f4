use std::fs;

use change_journal::{DocumentWrite, Journal, JournalLimits};
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

/// Writes a record as another program could into a state folder that it has made.
pub(crate) fn forge(fixture: &Fixture, record: &AgentRecord) {
    let folder = fixture.root.join("state/records");
    let (journal, _) = Journal::open(&folder, JournalLimits::default()).unwrap();
    let bytes = serde_json::to_vec(record).unwrap();
    journal.write_documents(&[DocumentWrite::Put { name: "agent/7-a", bytes: &bytes }]).unwrap();
}

#[test]
fn a_record_leads_to_no_folders_but_those_of_an_agent() {
    let fixture = Fixture::new();
    let record = fixture.run("true");
    let git_folder = record.git_folder.clone().unwrap();
    let victim = fixture.root.join("projects");
    let entries = ["one/.git", "link", "name", "other-name", "HEAD"].map(|name| victim.join(name));
    let are_there = || entries.each_ref().map(|path| path.symlink_metadata().is_ok());
    fs::create_dir_all(&entries[0]).unwrap();
    std::os::unix::fs::symlink("one", &entries[1]).unwrap();
    fs::write(&entries[2], "x").unwrap();
    fs::hard_link(&entries[2], &entries[3]).unwrap();
    fs::write(&entries[4], "ref: refs/../x\n").unwrap();
    fs::write(fixture.root.join("projects.issue.txt"), "mine").unwrap();
    // A worktree of the user's own.
    let own = fixture.root.join("own");
    fixture.git(&["worktree", "add", "-q", own.to_str().unwrap()]);
    let folder_of_own = fixture.repository().join(".git/worktrees/own");
    let gitdir = || fs::read_to_string(folder_of_own.join("gitdir")).unwrap();
    let before = gitdir();
    let cases = [
        (&victim, Some(&victim)),
        (&victim, Some(&git_folder)),
        (&victim, Some(&folder_of_own)),
        (&record.worktree, Some(&victim)),
        (&record.worktree, Some(&folder_of_own)),
        (&victim, None),
    ];
    for (worktree, git_folder) in cases {
        for state in [AgentState::Running, AgentState::Completed] {
            let (worktree, git_folder) = (worktree.clone(), git_folder.cloned());
            let import_failed = state.is_final();
            forge(&fixture, &AgentRecord { state, worktree, git_folder, import_failed, ..record.clone() });
            let runner = fixture.runner();
            runner.clean(true, true).unwrap();
            assert_eq!(are_there(), [true; 5], "{state}");
            assert!(fixture.root.join("projects.issue.txt").exists(), "{state}");
            assert_eq!(gitdir(), before, "{state}");
        }
    }
    // The control: in its own worktree the same is refused.
    fs::create_dir_all(record.worktree.join("one/.git")).unwrap();
    forge(&fixture, &AgentRecord { state: AgentState::Running, ..record.clone() });
    drop(fixture.runner());
    assert!(record.worktree.join("one/.git.agentd-refused").exists());
}

#[test]
fn a_runner_with_another_folder_of_worktrees_recovers_them() {
    let fixture = Fixture::new();
    let config = RunnerConfig { worktrees: fixture.root.join("elsewhere"), ..fixture.config() };
    let request = request(vec![agent("a", "true")]);
    let run = Runner::open(config).unwrap().run(&request, &StopFlag::new(), &Log::default());
    let record = run.unwrap().remove(0);
    fs::create_dir_all(record.worktree.join("one/.git")).unwrap();
    forge(&fixture, &AgentRecord { state: AgentState::Running, ..record.clone() });
    let runner = fixture.runner();
    assert!(record.worktree.join("one/.git.agentd-refused").exists());
    fs::remove_dir_all(record.worktree.join("one")).unwrap();
    assert!(runner.clean(true, false).unwrap()[0].removed && !record.worktree.exists());
}

#[test]
fn an_agent_that_is_removed_by_force_is_not_judged_first() {
    for is_removed in [true, false] {
        let fixture = Fixture::new();
        let record = fixture.run(&format!("{}; echo x > left", crate::fixture::MARKED));
        let running = AgentRecord { state: AgentState::Running, verdict: None, head: None, ..record.clone() };
        forge(&fixture, &running);
        let runner = Runner::open_to_remove(fixture.config(), &running.key()).unwrap();
        let lost = runner.record(&running.key()).unwrap().unwrap();
        assert_eq!((lost.state, lost.verdict.is_none()), (AgentState::Lost, true));
        if is_removed {
            let cleaned = runner.clean_by_force(&lost, false).unwrap();
            assert!(cleaned.removed && !record.worktree.exists(), "{cleaned:?}");
            assert!(runner.records().unwrap().is_empty());
        } else {
            // The control: one that stays is judged by the next runner.
            drop(runner);
            let judged = fixture.runner().record(&running.key()).unwrap().unwrap();
            assert_eq!((judged.state, judged.verdict.is_some()), (AgentState::Lost, true));
            assert_eq!(judged.head, record.head);
        }
    }
}
