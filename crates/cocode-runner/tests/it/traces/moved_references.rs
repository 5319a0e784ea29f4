//! The user's git in an agent's worktree moves no reference but the agent's own branch.

use std::fs;
use std::process::{Command, Output};

use cocode_env::AgentState;
use cocode_runner::AgentRecord;
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED};

/// Leaves a rebase of the agent's own branch that stopped at its first commit.
const REBASE: &str = "git commit -q --allow-empty -m two; echo 1 > a.txt; git commit -qam three; echo 2 > a.txt; git commit -qam four; \
                      GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2 2>/dev/null";

/// A script of an agent, and the command of the user that would move or delete a reference of the user's then.
const CASES: [(&str, &str); 12] = [
    ("echo ref: refs/heads/main > $W/ORIG_HEAD", "git reset -q --hard HEAD"),
    (
        "mkdir -p $W/refs/worktree; echo ref: refs/heads/main > $W/refs/worktree/x",
        "git update-ref refs/worktree/x HEAD",
    ),
    ("echo ref: refs/heads/main > $W/AUTO_MERGE", "git update-ref AUTO_MERGE HEAD"),
    ("echo ref: refs/heads/main > $W/HEAD", COMMIT),
    ("echo ref: refs/tags/v1 > $W/HEAD", COMMIT),
    ("echo ref: refs/remotes/o/m > $W/HEAD", COMMIT),
    (
        "REBASE; echo refs/tags/v1 > $W/rebase-merge/head-name; cp $T $W/rebase-merge/orig-head",
        "git rebase --continue",
    ),
    (
        "REBASE; echo refs/heads/main > $W/rebase-merge/head-name; cp $T $W/rebase-merge/orig-head",
        "git rebase --continue",
    ),
    ("REBASE; echo refs/heads/side > $W/rebase-merge/refs-to-delete", "git rebase --abort"),
    (
        "REBASE; (echo refs/heads/main; cat $T; git rev-parse HEAD) > $W/rebase-merge/update-refs",
        "git rebase --continue",
    ),
    // Too long to be read.
    (
        "REBASE; (echo refs/heads/main; cat $T; git rev-parse HEAD; Z=0000000000000000000000000000000000000000; \
         seq 12000 | sed \"s#.*#refs/heads/cocode/f&\\n$Z\\n$Z#\") > $W/rebase-merge/update-refs",
        "git rebase --continue",
    ),
    (
        "git bisect start -q; (printf -- -Bmain; head -c 2000000 /dev/zero | tr '\\0' ' '; echo) > $W/BISECT_START",
        "git bisect reset",
    ),
];

const COMMIT: &str = "git commit -q --allow-empty -m mine";

/// Makes a repository with a tag, a branch and a reference of a remote in addition to `main`.
fn with_references(level: Level) -> Fixture {
    let fixture = Fixture::at_level(level);
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    for name in ["refs/tags/v1", "refs/heads/side", "refs/remotes/o/m"] {
        fixture.git(&["update-ref", name, "main"]);
    }
    // So that a bisection can check it out.
    fixture.git(&["checkout", "-q", "--detach"]);
    fixture
}

fn references(fixture: &Fixture) -> String {
    let names = ["refs/heads/main", "refs/heads/side", "refs/tags", "refs/remotes"];
    fixture.git(&[&["for-each-ref"][..], &names].concat())
}

/// Runs a command as the user in an agent's worktree.
fn by_user(fixture: &Fixture, record: &AgentRecord, command: &str) -> Output {
    let mut shell = Command::new("sh");
    let set_up = format!("T={}; W={};", tip(fixture), record.git_folder.as_ref().unwrap().display());
    shell.args(["-c", &format!("{set_up} {}", command.replace("REBASE", REBASE))]);
    shell.env("GIT_EDITOR", "true").env("HOME", fixture.root.join("home"));
    shell.current_dir(&record.worktree).output().unwrap()
}

/// A file with the commit at `main`.
fn tip(fixture: &Fixture) -> String {
    let file = fixture.repository().join("tip");
    fs::write(&file, fixture.git(&["rev-parse", "main"]) + "\n").unwrap();
    file.display().to_string()
}

#[test]
fn no_reference_of_the_user_is_moved_from_the_worktree_of_an_agent() {
    for level in [Level::Full, Level::Landlock] {
        for (plant, command) in CASES {
            let fixture = with_references(level);
            let before = references(&fixture);
            let script = format!(
                "W=$(git rev-parse --absolute-git-dir); T=$W/T; git rev-parse main > $T; {MARKED}; {}; rm -f $T",
                plant.replace("REBASE", REBASE)
            );
            let record = fixture.run(&script);
            let case = format!("{level} {plant}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            assert!(!record.warnings.is_empty(), "{case}");
            let printed = by_user(&fixture, &record, command);
            assert_eq!(references(&fixture), before, "{printed:?} {case}");
            // The worktree is at a commit, and git works there.
            fixture.git_in(&record.worktree, &["rev-parse", "--verify", "HEAD^{commit}"]);
        }
    }
}

#[test]
fn git_moves_references_of_the_user_as_such_files_say() {
    // The control.
    for (plant, command) in CASES {
        let fixture = with_references(Level::Full);
        let before = references(&fixture);
        let record = fixture.run(MARKED);
        let planted = by_user(&fixture, &record, plant);
        let printed = by_user(&fixture, &record, command);
        assert_ne!(references(&fixture), before, "{plant}: {planted:?} {printed:?}");
    }
}

#[test]
fn a_branch_of_an_agent_that_names_another_one_moves_nothing() {
    let fixture = with_references(Level::Landlock);
    let before = references(&fixture);
    let plant = "B=$(git rev-parse --path-format=absolute --git-common-dir)/refs/heads/cocode; \
                 echo ref: refs/heads/main > $B/new; mv $B/new $B/7-a";
    let record = fixture.run(&format!("{MARKED}; {plant}"));
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    assert_eq!(record.state, AgentState::Completed, "{record:?}");
    assert!(record.warnings.iter().any(|warning| warning.contains("refs/heads/cocode/7-a")), "{record:?}");
    by_user(&fixture, &record, COMMIT);
    assert_eq!(references(&fixture), before, "{record:?}");
    // The control.
    by_user(&fixture, &record, &plant.replace("$(git", "$(cd $W; git"));
    by_user(&fixture, &record, COMMIT);
    assert_ne!(references(&fixture), before);
}
