//! Worktrees in a folder that is reached through a symlink are ordinary worktrees.

use std::fs;
use std::os::unix::fs::symlink;

use cocode_env::AgentState;
use cocode_runner::{Runner, RunnerConfig, StopFlag};
use sandbox_exec::Level;

use crate::fixture::{Fixture, Log, MARKED, agent, request};

#[test]
fn worktrees_reached_through_a_link_are_used_and_cleaned() {
    for level in [Level::Full, Level::Landlock] {
        let fixture = Fixture::at_level(level);
        // The folder of the program itself, which is hidden from agents, is reached through another link.
        let data = fixture.root.join("data");
        fs::create_dir_all(data.join("program")).unwrap();
        symlink(&data, fixture.root.join("link")).unwrap();
        let config = || RunnerConfig {
            worktrees: fixture.root.join("link/program/worktrees/new"),
            private: vec![fixture.root.join("link/program"), fixture.root.join("state")],
            ..fixture.config()
        };
        let runner = Runner::open(config()).unwrap();
        let script = format!("cd \"$COCODE_REPO_PATH\" && {MARKED}");
        let records =
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &Log::default()).unwrap();
        let record = &records[0];
        assert_eq!(record.state, AgentState::Ready, "{level} {record:?}");
        assert!(record.worktree.starts_with(data.join("program/worktrees/new")), "{record:?}");
        runner.pick(record, false).unwrap();
        let cleaned = runner.clean(true, false).unwrap().remove(0);
        assert!(cleaned.removed && !record.worktree.exists(), "{level} {cleaned:?}");
    }
}

#[test]
fn worktrees_whose_folder_was_replaced_by_a_link_are_cleaned() {
    let fixture = Fixture::new();
    let record = fixture.run(MARKED);
    let moved = fixture.root.join("moved");
    fs::rename(fixture.worktrees(), &moved).unwrap();
    symlink(&moved, fixture.worktrees()).unwrap();
    fixture.git_in(&record.worktree, &["worktree", "repair"]);
    let runner = fixture.runner();
    runner.pick(&record, false).unwrap();
    let cleaned = runner.clean(true, false).unwrap().remove(0);
    assert!(cleaned.removed && !record.worktree.exists(), "{cleaned:?}");
}

#[test]
fn a_link_in_the_place_of_a_worktree_is_kept() {
    let fixture = Fixture::new();
    let record = fixture.run(MARKED);
    let moved = fixture.root.join("moved");
    fs::rename(&record.worktree, &moved).unwrap();
    symlink(&moved, &record.worktree).unwrap();
    fixture.git_in(&moved, &["worktree", "repair"]);
    let cleaned = fixture.runner().clean_by_force(&record, false).unwrap();
    assert!(!cleaned.removed && moved.join(".git").exists(), "{cleaned:?}");
}
