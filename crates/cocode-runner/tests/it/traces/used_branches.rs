//! No branch but its own stays in use in the worktree of an agent that has ended.

use std::fs;

use cocode_env::AgentState;
use cocode_runner::AgentDefinition;
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED, agent};

/// The ways to end on the branch `feature` of the user's, or in the middle of something with it.
const ENDS: [&str; 6] = [
    "git checkout -q feature",
    "git symbolic-ref HEAD refs/heads/feature",
    "echo ref: refs/heads/feature > $W/HEAD",
    "mkdir $W/rebase-merge; echo refs/heads/feature > $W/rebase-merge/head-name; git rev-parse HEAD > $W/rebase-merge/onto",
    "mkdir $W/rebase-merge $W/rebase-merge.refused; echo refs/heads/feature > $W/rebase-merge/head-name",
    "git bisect start HEAD HEAD~1 >/dev/null; echo feature > $W/BISECT_START",
];

fn with_feature(level: Level) -> Fixture {
    let fixture = Fixture::at_level(level);
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    fixture.git(&["branch", "feature"]);
    fixture
}

#[test]
fn a_branch_of_the_user_can_be_checked_out_wherever_an_agent_has_ended() {
    for level in [Level::Full, Level::Landlock] {
        for end in ENDS {
            let fixture = with_feature(level);
            let record = fixture.run(&format!("W=$(git rev-parse --absolute-git-dir); {MARKED}; {end}"));
            let case = format!("{level} {end}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            assert!(record.warnings.iter().any(|warning| warning.contains("'feature'")), "{case}");
            fixture.git(&["checkout", "-q", "feature"]);
            fixture.git(&["checkout", "-q", "main"]);
            fixture.git(&["branch", "-D", "feature"]);
            // The worktree is at the same commit, and can be cleaned.
            fixture.git_in(&record.worktree, &["rev-parse", "--verify", "HEAD^{commit}"]);
            assert!(fixture.runner().clean_by_force(&record, false).unwrap().removed, "{case}");
        }
    }
}

#[test]
fn git_refuses_a_branch_that_such_a_worktree_has_in_use() {
    // The control.
    let fixture = with_feature(Level::Full);
    let record = fixture.run(MARKED);
    let refused = || {
        let mut git = std::process::Command::new("git");
        git.args(["checkout", "-q", "feature"]).current_dir(fixture.repository());
        !git.status().unwrap().success()
    };
    let folder = record.git_folder.unwrap();
    fs::write(folder.join("HEAD"), "ref: refs/heads/feature\n").unwrap();
    assert!(refused());
    fs::write(folder.join("HEAD"), record.head.unwrap() + "\n").unwrap();
    fs::create_dir(folder.join("rebase-merge")).unwrap();
    fs::write(folder.join("rebase-merge/head-name"), "refs/heads/feature\n").unwrap();
    assert!(refused());
    fs::remove_dir_all(folder.join("rebase-merge")).unwrap();
    assert!(!refused());
}

#[test]
fn what_is_about_its_own_branch_stays() {
    let fixture = Fixture::new();
    let unfinished = "git commit -q --allow-empty -m two; echo 1 > a.txt; git commit -qam three; echo 2 > a.txt; git commit -qam four; \
                      GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2 2>/dev/null";
    let record = fixture.run(&format!("{MARKED}; {unfinished}"));
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    assert!(record.git_folder.unwrap().join("rebase-merge/head-name").exists());
    assert!(record.warnings.iter().all(|warning| !warning.contains("refused")), "{:?}", record.warnings);
    // Without anything unfinished, it stays on its branch.
    let fixture = Fixture::new();
    let record = fixture.run(MARKED);
    assert_eq!(fixture.git_in(&record.worktree, &["symbolic-ref", "HEAD"]), "refs/heads/cocode/7-a");
}

#[test]
fn a_check_that_ends_on_a_branch_of_the_user_blocks_it_neither() {
    let fixture = with_feature(Level::Full);
    let check = Some("git checkout -q feature".to_owned());
    let record = fixture.run_agent(AgentDefinition { check, ..agent("a", MARKED) });
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    fixture.git(&["checkout", "-q", "feature"]);
}
