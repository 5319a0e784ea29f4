//! Deliveries that home cannot judge.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use cocode_env::AgentState;
use cocode_fleet::{ClaimedState, JudgeError, ResultJudge, TaskOutcome};

use crate::fixture::{Home, MARKED};

/// Makes a commit with a file whose name no file system takes, and prints it.
const TOO_LONG: &str = "B=$(echo x | git hash-object -w --stdin)
T=$( (git ls-tree HEAD; printf '100644 blob %s\\t%0300d\\n' $B 0) | git mktree)
git update-ref HEAD $(printf 'fix: x\\n\\ncocode ready for check\\n' | git commit-tree -p HEAD $T)";

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
fn a_delivery_at_which_git_fails_each_time_is_not_judged_for_ever() {
    let mut home = Home::new();
    home.journal.unresolved().unwrap();
    let (outcome, bundle) = work(&home, TOO_LONG);
    let judge =
        |home: &Home, epoch| home.journal.judge(&home.delivery(&outcome, &bundle, epoch)).unwrap_err();
    // At first, this machine may be at fault.
    for _ in 0..6 {
        let error = judge(&home, 1);
        assert!(matches!(error, JudgeError::Failed(_)), "{error}");
    }
    home.journal = home.journal.with_patience(Duration::ZERO);
    let error = judge(&home, 1);
    assert!(matches!(error, JudgeError::NotBelieved(_)), "{error}");
    assert!(error.to_string().contains("git has failed at its delivery each time"), "{error}");
    // Another attempt begins anew, and a good delivery is judged.
    assert!(matches!(judge(&home, 2), JudgeError::Failed(_)));
    let (outcome, bundle) = work(&home, MARKED);
    home.journal.judge(&home.delivery(&outcome, &bundle, 3)).unwrap();
    assert_eq!(home.record().state, AgentState::Ready);
}
