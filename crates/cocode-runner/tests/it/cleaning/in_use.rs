//! Branches and submodules in use are kept, and force removes damaged worktrees.

use std::fs;

use crate::fixture::{Fixture, MARKED, agent};

/// The reason that the only agent is kept.
fn why(fixture: &Fixture) -> Option<String> {
    fixture.runner().clean(true, false).unwrap().remove(0).why
}

#[test]
fn a_branch_that_the_user_is_on_is_kept() {
    let fixture = Fixture::new();
    let record = fixture.run(MARKED);
    fixture.git(&["worktree", "remove", &record.worktree.to_string_lossy()]);
    fixture.git(&["switch", "-q", "cocode/7-a"]);
    let expected = format!(
        "its branch is checked out in {}; switch to another branch there first",
        fixture.repository().display()
    );
    assert_eq!(why(&fixture).as_deref(), Some(expected.as_str()));
    assert_eq!(fixture.runner().clean_by_force(&record, false).unwrap().why, Some(expected));
    assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), record.head.clone().unwrap());
    // In another worktree of the user as well.
    let other = fixture.root.join("other").display().to_string();
    fixture.git(&["switch", "-q", "main"]);
    fixture.git(&["worktree", "add", "-q", &other, "cocode/7-a"]);
    assert_eq!(
        why(&fixture),
        Some(format!("its branch is checked out in {other}; switch to another branch there first"))
    );
    fixture.git(&["worktree", "remove", &other]);
    // The controls: on another branch its commit is work, until that branch has it.
    assert_eq!(why(&fixture).as_deref(), Some("it has unmerged commits"));
    fixture.git(&["switch", "-q", "-c", "mine", "cocode/7-a"]);
    assert_eq!(why(&fixture), None);
    assert_eq!(fixture.git(&["rev-parse", "mine"]), record.head.unwrap());
}

#[test]
fn a_detached_head_does_not_count_as_merged() {
    let fixture = Fixture::new();
    let record = fixture.run(MARKED);
    fixture.git(&["switch", "-q", "--detach", &record.branch]);
    assert_eq!(why(&fixture).as_deref(), Some("it has unmerged commits"));
    // The control: the same commit on a branch.
    fixture.git(&["switch", "-q", "-c", "mine"]);
    assert_eq!(why(&fixture), None);
}

#[test]
fn commits_of_a_submodule_that_exist_nowhere_else_are_kept() {
    for is_populated in [true, false] {
        let fixture = Fixture::new();
        fixture.git_in(&fixture.root, &["clone", "-q", "repository", "lib"]);
        let lib = fixture.root.join("lib").display().to_string();
        fixture.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &lib, "lib"]);
        fixture.git(&["commit", "-q", "-m", "lib"]);
        // A check leaves a file, so that git needs force to remove the worktree.
        let definition =
            cocode_runner::AgentDefinition { check: Some("touch report".into()), ..agent("a", MARKED) };
        let record = fixture.run_agent(definition);
        assert_eq!(record.left_by_check.len(), 1, "{record:?}");
        fixture.runner().pick(&record, false).unwrap();
        let git_folder = record.git_folder.clone().unwrap();
        if is_populated {
            let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
            fixture.git_in(&record.worktree, &update);
            let folder = record.worktree.join("lib");
            fixture.git_in(&folder, &["commit", "-q", "--allow-empty", "-m", "only here"]);
            assert!(git_folder.join("modules/lib").is_dir(), "the control");
            let expected = |name: &str| {
                Some(format!("it holds submodules, whose commits may exist nowhere else: {name}"))
            };
            assert_eq!(why(&fixture), expected("lib"));
            // Its folder is gone, its commits are not.
            fixture.git_in(&record.worktree, &["submodule", "--quiet", "deinit", "--force", "lib"]);
            assert_eq!(why(&fixture), expected("modules"));
            assert!(git_folder.join("modules/lib").is_dir());
            assert!(fixture.runner().clean_by_force(&record, false).unwrap().removed);
        } else {
            // The control: an unused one keeps nothing.
            assert_eq!(why(&fixture), None);
        }
        assert!(!record.worktree.exists() && !git_folder.exists());
    }
}

#[test]
fn force_removes_locked_and_damaged_worktrees() {
    let damages = [
        "locked",
        "echo nonsense > $W/HEAD",
        "rm $W/HEAD",
        "echo nonsense > $W/index; mkdir $W/index.refused",
        "echo x > new; chmod 0 $W/logs",
    ];
    for damage in damages {
        let fixture = Fixture::new();
        let script = if damage == "locked" { "true" } else { damage };
        let record = fixture.run(&format!("W=$(git rev-parse --absolute-git-dir); {script}"));
        assert_eq!(record.exit_code, Some(0), "{damage}: {record:?}");
        if damage == "locked" {
            // As git leaves it when it is killed. A lock that an agent makes is not taken over.
            fs::write(record.git_folder.as_ref().unwrap().join("locked"), "initializing").unwrap();
        }
        assert!(record.worktree.exists());
        if !damage.contains("index") {
            let kept = fixture.runner().clean(true, false).unwrap().remove(0);
            assert!(!kept.removed && record.worktree.exists(), "the control: {damage}: {kept:?}");
        }
        let cleaned = fixture.runner().clean_by_force(&record, false).unwrap();
        assert!(cleaned.removed, "{damage}: {cleaned:?}");
        assert!(!record.worktree.exists() && !record.git_folder.unwrap().exists(), "{damage}");
        assert_eq!(fixture.git(&["branch", "--list", "cocode/*"]), "", "{damage}");
        assert_eq!(fixture.git(&["worktree", "list"]).lines().count(), 1, "{damage}");
    }
}

#[test]
fn force_removes_folders_that_are_deeper_than_a_path() {
    let deep = "perl -e 'for (1..3000) { mkdir \"dd\"; chdir \"dd\" } mkdir \"closed\"; chmod 0, \"closed\"; print \"deep\\n\"'";
    for folder in [".", "$W/logs", "$W/modules"] {
        let fixture = Fixture::new();
        let record = fixture.run(&format!(
            "W=$(git rev-parse --absolute-git-dir); mkdir -p {folder}; cd {folder} && {deep} | grep -q deep"
        ));
        assert_eq!(record.exit_code, Some(0), "{folder}: {record:?}");
        let cleaned = fixture.runner().clean_by_force(&record, false).unwrap();
        assert!(cleaned.removed, "{folder}: {cleaned:?}");
        assert!(!record.worktree.exists() && !record.git_folder.unwrap().exists(), "{folder}");
    }
}
