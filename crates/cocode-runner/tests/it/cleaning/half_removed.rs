//! Worktrees that git removes in part only.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, AgentRecord};

use crate::fixture::{Fixture, MARKED, agent};

/// Makes folders whose paths are too long for the system, where git does not look for work.
const DEEP: &str = "mkdir -p node_modules; echo '*' > node_modules/.gitignore; cd node_modules; \
    perl -e 'for (1..3000) { mkdir \"dd\"; chdir \"dd\" } open(F, \">x\") or die'";

/// Removes a worktree by git, which fails at such folders and no longer knows it afterwards.
fn remove_in_part(fixture: &Fixture, record: &AgentRecord) {
    let mut command = Command::new("git");
    command.args(["worktree", "remove", "--force"]).arg(&record.worktree);
    let output = command.current_dir(fixture.repository()).env("HOME", &fixture.host.home).output().unwrap();
    assert!(!output.status.success(), "the control");
    let left = [record.worktree.exists(), record.git_folder.as_ref().unwrap().exists()];
    assert_eq!(left, [true, false], "the control");
}

#[test]
fn an_agent_whose_files_git_cannot_remove_is_removed() {
    let fixture = Fixture::new();
    let record = fixture.run(DEEP);
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert!(cleaned.removed && !record.worktree.exists(), "{cleaned:?}");
    assert!(!record.git_folder.unwrap().exists());
    assert_eq!(fixture.git(&["branch", "--list", "cocode/*"]), "");
    // Its name is free again.
    assert_eq!(fixture.run(MARKED).state, AgentState::Ready);
}

#[test]
fn folders_that_a_check_has_closed_are_removed_with_the_worktree() {
    let check = "mkdir -p out/in && echo x > out/in/report && chmod 0 out/in && chmod 0 out";
    let fixture = Fixture::new();
    let definition = AgentDefinition { check: Some(check.to_owned()), ..agent("a", MARKED) };
    let record = fixture.run_agent(definition);
    assert_eq!(record.left_by_check.len(), 1, "{record:?}");
    let runner = fixture.runner();
    runner.pick(&record, false).unwrap();
    let cleaned = runner.clean(true, false).unwrap().remove(0);
    assert!(cleaned.removed && !record.worktree.exists(), "{cleaned:?}");
}

#[test]
fn git_refuses_to_remove_work_that_has_come_since() {
    // The control of the fallback: a refusal is no failure half-way.
    let fixture = Fixture::new();
    let record = fixture.run(DEEP);
    fs::write(record.git_folder.as_ref().unwrap().join("locked"), "in use").unwrap();
    let cleaned = fixture.runner().clean(true, false).unwrap().remove(0);
    assert!(!cleaned.removed && cleaned.why.unwrap().contains("locked"));
    assert!(record.worktree.join("a.txt").exists() && record.worktree.join(".git").exists());
}

#[test]
fn force_removes_what_an_earlier_removal_has_left() {
    let fixture = Fixture::new();
    let record = fixture.run(&format!("{MARKED}; {DEEP}"));
    remove_in_part(&fixture, &record);
    let runner = fixture.runner();
    let kept = runner.clean(true, false).unwrap().remove(0);
    let why = "git no longer knows its worktree, of which files are left";
    assert_eq!((kept.removed, kept.why.as_deref(), kept.holds_work), (false, Some(why), true));
    assert!(runner.clean_by_force(&record, true).unwrap().removed && record.worktree.exists());
    let cleaned = runner.clean_by_force(&record, false).unwrap();
    assert!(cleaned.removed && !record.worktree.exists(), "{cleaned:?}");
    assert_eq!(fixture.git(&["branch", "--list", "cocode/*"]), "");
}

#[test]
fn force_keeps_what_the_user_has_made_in_its_place() {
    let fixture = Fixture::new();
    let record = fixture.run(DEEP);
    remove_in_part(&fixture, &record);
    let moved = fixture.root.join("moved");
    fs::rename(&record.worktree, &moved).unwrap();
    // A link to another folder, and a repository.
    symlink(&moved, &record.worktree).unwrap();
    let runner = fixture.runner();
    assert!(!runner.clean_by_force(&record, false).unwrap().removed && moved.join("node_modules").exists());
    fs::remove_file(&record.worktree).unwrap();
    fixture.git_in(&fixture.root, &["clone", "-q", "repository", record.worktree.to_str().unwrap()]);
    let kept = runner.clean_by_force(&record, false).unwrap();
    assert!(!kept.removed && record.worktree.join(".git/HEAD").exists(), "{kept:?}");
    assert!(kept.why.unwrap().ends_with("; move it elsewhere, then clean again"));
    // A worktree of another repository.
    fs::remove_dir_all(&record.worktree).unwrap();
    fs::create_dir(&record.worktree).unwrap();
    fs::write(record.worktree.join(".git"), "gitdir: /elsewhere\n").unwrap();
    assert!(!runner.clean_by_force(&record, false).unwrap().removed && record.worktree.exists());
    // The control: it is removed once it is moved away, and so is the depth that no other program removes.
    fs::remove_dir_all(&record.worktree).unwrap();
    fs::rename(&moved, &record.worktree).unwrap();
    assert!(runner.clean_by_force(&record, false).unwrap().removed && !record.worktree.exists());
}
