//! Home's journal: what becomes of a task.

use cocode_env::AgentState;
use cocode_fleet::{JudgeError, Notice, ResultJudge, StopSignal, TaskExecutor, TaskOutcome};

use crate::fixture::{Home, Lines, MARKED, Machine, host_name};

/// Has a host run the task of home, and returns the outcome with the lines of the agent's log.
fn run(home: &Home, host: &Machine, script: &str) -> (TaskOutcome, Vec<String>) {
    let work = host.host_work(script, 1);
    let submitted = home.journal.task(&home.name).unwrap();
    for base in submitted.bases.iter().filter(|base| !work.has_base(&base.base.tip)) {
        work.add_base(&base.path, &base.base.tip).unwrap();
    }
    let mut lines = Lines::default();
    let result = host.root.join("result.bundle");
    let outcome = work.execute(&submitted.task, &StopSignal::new(), &mut lines, &result).unwrap();
    (outcome, lines.0)
}

#[test]
fn a_task_runs_on_a_host_and_is_judged_at_home() {
    let (home, host) = (Home::new(), Machine::new());
    assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    home.journal.notice(&home.name, &Notice::Queued { epoch: 0 });
    home.journal.notice(&home.name, &Notice::Running { host: host_name(), epoch: 1 });
    assert_eq!(home.record().state, AgentState::Running);
    assert_eq!(home.journal.last_epoch(&home.name).unwrap(), 1);
    let (outcome, lines) = run(&home, &host, MARKED);
    home.journal.log_lines(&home.name, &host_name(), &lines, 2);
    let delivery = home.delivery(&outcome, &host.root.join("result.bundle"), 1);
    home.journal.judge(&delivery).unwrap();
    let record = home.record();
    assert_eq!((record.state, record.head.as_ref()), (AgentState::Ready, outcome.head.as_ref()));
    assert_eq!(home.journal.tasks().names().unwrap(), []);
    assert_eq!(home.journal.unresolved().unwrap(), []);
    assert_eq!(
        home.journal.observer().take(),
        ["a is queued", "a: runs on h", "log: (2 lines were left out)", "log: working", "a ended: ready"]
    );
    // The commit is in the repository of home.
    let head = record.head.unwrap();
    assert_eq!(home.machine.git(&["show", &format!("{head}:done")]), "x");
}

#[test]
fn a_claim_that_its_bundle_does_not_bear_out_is_not_believed() {
    let (home, host) = (Home::new(), Machine::new());
    home.journal.unresolved().unwrap();
    home.journal.notice(&home.name, &Notice::Running { host: host_name(), epoch: 1 });
    let (outcome, _) = run(&home, &host, MARKED);
    let result = host.root.join("result.bundle");
    let lies = [
        TaskOutcome { head: Some("1".repeat(40)), ..outcome.clone() },
        TaskOutcome { head: None, ..outcome.clone() },
    ];
    for lie in lies {
        let refused = home.journal.judge(&home.delivery(&lie, &result, 1)).unwrap_err();
        assert!(matches!(refused, JudgeError::NotBelieved(_)), "{refused}");
        assert_eq!(home.record().state, AgentState::Running);
        assert_eq!(home.journal.unresolved().unwrap(), std::slice::from_ref(&home.name));
    }
    // The truth is.
    home.journal.judge(&home.delivery(&outcome, &result, 1)).unwrap();
    assert_eq!(home.record().state, AgentState::Ready);
}

#[test]
fn a_task_that_ends_in_an_unexpected_way_has_failed_with_a_sentence() {
    let home = Home::new();
    home.journal.unresolved().unwrap();
    home.journal.ended(&home.name, &Notice::Queued { epoch: 1 }).unwrap();
    let record = home.record();
    assert_eq!(record.state, AgentState::Failed);
    assert_eq!(record.detail.as_deref(), Some("the fleet gave it up without a reason"));
}

#[test]
fn every_notice_is_a_line_for_a_person() {
    let home = Home::new();
    home.journal.unresolved().unwrap();
    let (host, reason) = (host_name(), "why".to_owned());
    let notices = [
        Notice::QueueFull { waiting: 3 },
        Notice::Delivered { host: host.clone(), epoch: 1 },
        Notice::NotBelieved { host: Some(host.clone()), epoch: 1, reason: reason.clone() },
        Notice::NotBelieved { host: None, epoch: 1, reason: reason.clone() },
        Notice::PublishedAgain { epoch: 2 },
        Notice::BaseUploadedAgain { reason: reason.clone() },
        Notice::NoHostFits { hosts: Vec::new() },
        Notice::NoHostFits { hosts: vec![(host.clone(), vec![cocode_fleet::Unmet::Disk])] },
        Notice::LateUnused { host: host.clone(), reason: reason.clone() },
        Notice::AttemptFailed { host, reason: reason.clone() },
        Notice::Unpublishable { reason },
    ];
    for notice in &notices {
        home.journal.notice(&home.name, notice);
    }
    home.journal.connection_changed(Some("no route"));
    home.journal.connection_changed(None);
    insta::assert_snapshot!(home.journal.observer().take().join("\n"));
}
