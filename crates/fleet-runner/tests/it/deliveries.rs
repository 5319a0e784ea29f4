//! Deliveries that home cannot judge.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use cocode_env::AgentState;
use cocode_fleet::{ClaimedState, JudgeError, Notice, ResultJudge, TaskOutcome};

use crate::fixture::{Home, MARKED, host_name};

/// Lets git fail at every worktree of home's repository.
fn obstruct(home: &Home) -> PathBuf {
    let file = home.machine.repository().join(".git/worktrees");
    std::fs::write(&file, "").unwrap();
    file
}

/// Returns the outcome of a host whose commit a script makes, and its bundle.
fn work(home: &Home, script: &str) -> (TaskOutcome, PathBuf) {
    let (clone, bundle) = (home.machine.root.join("clone"), home.machine.root.join("result.bundle"));
    let _ = std::fs::remove_dir_all(&clone);
    home.machine.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let script = format!(
        "set -e\n{script}\ngit bundle create -q {} HEAD ^origin/main\ngit rev-parse HEAD",
        bundle.display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(&clone).env("HOME", &home.machine.host.home);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let head = String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned();
    let outcome = TaskOutcome {
        state: ClaimedState::Ready,
        exit_code: Some(0),
        is_clean: Some(true),
        head: Some(head),
        has_bundle: true,
        detail: String::new(),
    };
    (outcome, bundle)
}

#[test]
fn a_judgement_that_is_stopped_is_not_reported_and_its_task_ends_as_cancelled() {
    let home = Home::new();
    home.journal.unresolved().unwrap();
    home.journal.notice(&home.name, &Notice::Running { host: host_name(), epoch: 1 });
    let (outcome, bundle) = work(&home, MARKED);
    home.journal.observer().take();
    home.stop.raise();
    let error = home.journal.judge(&home.delivery(&outcome, &bundle, 1)).unwrap_err();
    assert!(matches!(error, JudgeError::Failed(_)), "{error}");
    assert_eq!(home.journal.observer().take(), Vec::<String>::new());
    assert_eq!(home.record().state, AgentState::Running);
    home.journal.ended(&home.name, &Notice::Cancelled).unwrap();
    let record = home.record();
    assert_eq!((record.state, record.detail, record.verdict), (AgentState::Cancelled, None, None));
}

#[test]
fn delivered_work_whose_judgement_was_given_up_is_kept_and_can_be_given_out_again() {
    let home = Home::new();
    home.journal.unresolved().unwrap();
    // Home has imported it and cannot check it out: this machine is at fault for now.
    let (outcome, bundle) = work(&home, MARKED);
    let obstacle = obstruct(&home);
    home.journal.judge(&home.delivery(&outcome, &bundle, 1)).unwrap_err();
    home.journal.ended(&home.name, &Notice::Cancelled).unwrap();
    let record = home.record();
    assert_eq!(record.state, AgentState::Cancelled);
    assert_eq!(record.detail.as_deref(), Some("its delivered work was not judged"));
    let head = outcome.head.unwrap();
    assert_eq!(home.machine.git(&["cat-file", "-t", &head]), "commit");
    // Another attempt is judged.
    std::fs::remove_file(obstacle).unwrap();
    home.journal.tasks().request_retry(&home.name).unwrap();
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    let (outcome, bundle) =
        work(&home, &format!("{MARKED}; git commit -q --amend --reset-author --no-edit --date=@1"));
    home.journal.judge(&home.delivery(&outcome, &bundle, 2)).unwrap();
    assert_eq!(home.record().state, AgentState::Ready);
}

#[test]
fn a_delivery_at_which_git_fails_each_time_is_not_judged_for_ever() {
    let mut home = Home::new();
    home.journal.unresolved().unwrap();
    let (outcome, bundle) = work(&home, MARKED);
    let obstacle = obstruct(&home);
    let judge =
        |home: &Home, epoch| home.journal.judge(&home.delivery(&outcome, &bundle, epoch)).unwrap_err();
    // At first, this machine may be at fault.
    for _ in 0..6 {
        let error = judge(&home, 1);
        assert!(matches!(error, JudgeError::Failed(_)), "{error}");
    }
    // People read of it once.
    let lines = home.journal.observer().take();
    let is_reported = |line: &&String| line.contains("cannot be judged yet: git worktree failed: ");
    assert_eq!(lines.iter().filter(is_reported).count(), 1, "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("; it is tried again")), "{lines:?}");
    home.journal = home.journal.with_patience(Duration::ZERO);
    let error = judge(&home, 1);
    assert!(matches!(error, JudgeError::NotBelieved(_)), "{error}");
    assert!(
        error.to_string().contains("its delivery could not be judged each time: git worktree failed"),
        "{error}"
    );
    // Another attempt begins anew, and a good delivery is judged.
    assert!(matches!(judge(&home, 2), JudgeError::Failed(_)));
    std::fs::remove_file(obstacle).unwrap();
    home.journal.judge(&home.delivery(&outcome, &bundle, 3)).unwrap();
    assert_eq!(home.record().state, AgentState::Ready);
}
