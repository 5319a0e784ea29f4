//! Judgements that fail, and reports and cancellations while one runs.

use std::fs;

use cocode_env::AgentState;
use cocode_runner::{
    AgentDefinition, AgentRecord, Delivery, DeliveryError, Runner, RunnerError, request_cancel,
};

use crate::elsewhere::machines::{Machines, judge, wait_until};
use crate::fixture::{MARKED, agent, failures};
use crate::recovering::forge;

/// An agent whose check makes a file `started` in its worktree, and then waits for a file `go`.
fn waiting() -> AgentDefinition {
    let check = "touch started; until test -f go; do sleep 0.02; done";
    AgentDefinition { check: Some(check.into()), ..agent("a", "true") }
}

/// Work that no other call makes.
fn other_work(machines: &Machines, text: &str) -> Delivery {
    machines.forge(&format!("echo {text} > x; git add x; {MARKED}"))
}

/// Judges a delivery of [`waiting`], and calls `meanwhile` while the check waits.
fn judge_while(
    runner: &Runner,
    record: &AgentRecord,
    delivery: &Delivery,
    meanwhile: impl FnOnce(),
) -> Result<AgentRecord, RunnerError> {
    std::thread::scope(|scope| {
        let judging = scope.spawn(|| judge(runner, record, delivery));
        // After an error there is nothing to wait for.
        let is_over = || judging.is_finished() || record.worktree.join("started").exists();
        wait_until("the check waits", is_over);
        assert!(!judging.is_finished(), "{:?}", runner.records());
        meanwhile();
        judging.join().unwrap()
    })
}

fn let_go(record: &AgentRecord) {
    fs::write(record.worktree.join("go"), "").unwrap();
}

#[test]
fn a_report_during_a_judgement_is_not_overwritten() {
    for (state, epoch) in [(AgentState::Cancelled, 1), (AgentState::Running, 2)] {
        let machines = Machines::new();
        let runner = machines.home.runner();
        let record = machines.begin(&runner, waiting());
        let work = machines.forge(MARKED);
        let judged = judge_while(&runner, &record, &work, || {
            runner.set_elsewhere_state(&record, state, Some("other"), epoch, None).unwrap();
            let_go(&record);
        });
        let Err(RunnerError::Delivery { source, .. }) = judged else { panic!("{judged:?}") };
        assert!(matches!(source, DeliveryError::Over { .. } | DeliveryError::Late { .. }), "{source:?}");
        assert!(!source.is_about_delivery());
        let now = runner.records().unwrap().remove(0);
        assert_eq!((now.state, &now.verdict, now.elsewhere.as_ref().unwrap().epoch), (state, &None, epoch));
        if state == AgentState::Cancelled {
            let kept = runner.clean(true, false).unwrap().remove(0);
            assert!(!kept.removed && kept.why.is_some(), "{kept:?}");
            assert!(runner.clean_by_force(&now, false).unwrap().removed && !record.worktree.exists());
        } else {
            // The next attempt replaces what the first one has left.
            let second = Delivery { epoch: 2, ..other_work(&machines, "2") };
            let judge_again =
                |delivery: &Delivery| judge_while(&runner, &record, delivery, || let_go(&record)).unwrap();
            fs::remove_file(record.worktree.join("started")).unwrap();
            let judged = judge_again(&second);
            assert_eq!((judged.state, judged.head), (AgentState::Ready, second.head), "{:?}", judged.verdict);
        }
    }
}

#[test]
fn the_control_without_a_report_is_ready() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, waiting());
    let judged = judge_while(&runner, &record, &machines.forge(MARKED), || let_go(&record)).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
}

#[test]
fn a_check_that_the_user_cancels_cancels_the_agent() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, waiting());
    let judged = judge_while(&runner, &record, &machines.forge(MARKED), || {
        request_cancel(&machines.home.root.join("state"), &record).unwrap();
    });
    let judged = judged.unwrap();
    assert_eq!((judged.state, judged.exit_code), (AgentState::Cancelled, Some(130)), "{judged:?}");
    assert!(!runner.is_cancel_requested(&judged));
}

#[test]
fn a_judgement_that_fails_after_the_import_is_repeated_with_the_same_verdict() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", "true"));
    let work = machines.forge(MARKED);
    // No worktree can be made below a file.
    fs::write(machines.home.worktrees(), "").unwrap();
    let failed = judge(&runner, &record, &work);
    assert!(matches!(&failed, Err(RunnerError::File { .. })), "{failed:?}");
    assert!(machines.has(work.head.as_ref().unwrap()));
    drop(runner);
    fs::remove_file(machines.home.worktrees()).unwrap();
    let runner = machines.home.runner();
    let judged = judge(&runner, &record, &work).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    // The control: without that record, the same objects make the commit an old one.
    let other = other_work(&machines, "other");
    machines.home.git(&["bundle", "unbundle", other.bundle.as_ref().unwrap().to_str().unwrap()]);
    let record = machines.begin(&runner, agent("b", "true"));
    let judged = judge(&runner, &record, &other).unwrap();
    assert_eq!(failures(&judged), ["new"], "{judged:?}");
}

#[test]
fn another_delivery_replaces_what_a_failed_judgement_has_left() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", "true"));
    let (first, second) = (machines.forge(MARKED), other_work(&machines, "2"));
    fs::write(machines.home.worktrees(), "").unwrap();
    judge(&runner, &record, &first).unwrap_err();
    fs::remove_file(machines.home.worktrees()).unwrap();
    let judged = judge(&runner, &record, &second).unwrap();
    assert_eq!((judged.state, judged.head), (AgentState::Ready, second.head.clone()));
    assert_eq!(machines.home.git(&["rev-parse", "cocode/7-a"]), second.head.unwrap());
}

#[test]
fn a_record_of_another_folder_has_nothing_removed_there() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", "true"));
    let (first, second) = (machines.forge(MARKED), other_work(&machines, "2"));
    fs::write(machines.home.worktrees(), "").unwrap();
    judge(&runner, &record, &first).unwrap_err();
    fs::remove_file(machines.home.worktrees()).unwrap();
    let victim = machines.home.root.join("projects");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("mine"), "x").unwrap();
    let recorded = runner.record("7-a").unwrap().unwrap();
    drop(runner);
    forge(&machines.home, &AgentRecord { worktree: victim.clone(), ..recorded.clone() });
    let refused = judge(&machines.home.runner(), &record, &second).unwrap_err();
    assert!(matches!(&refused, RunnerError::FolderExists { path } if *path == victim), "{refused:?}");
    assert!(victim.join("mine").exists());
    // The control: with the agent's own folder it is judged.
    forge(&machines.home, &recorded);
    let judged = judge(&machines.home.runner(), &record, &second).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
}
