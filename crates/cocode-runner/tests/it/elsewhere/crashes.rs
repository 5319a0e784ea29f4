use std::fs;

use cocode_env::AgentState;
use cocode_runner::{
    AgentDefinition, DeliveryError, Runner, RunnerConfig, RunnerError, StopFlag, Unobserved,
};
use test_support::copy_folder;

use crate::elsewhere::machines::{Machines, judge, wait_until};
use crate::fixture::{MARKED, agent, failures};

/// Stops a judgement in its check, and returns the result of a second judgement by a runner with the records of that moment.
/// `between` changes the repository meanwhile.
fn judged_again(between: impl Fn(&Machines)) -> (Machines, cocode_runner::AgentRecord) {
    let machines = Machines::new();
    let home = &machines.home;
    let signals = home.root.join("signals");
    fs::create_dir(&signals).unwrap();
    // The first time it runs until it is stopped.
    let folder = signals.display();
    let check = format!("test -e {folder}/begun || {{ touch {folder}/begun; exec sleep 1000; }}");
    let definition =
        AgentDefinition { check: Some(check), writable: vec![folder.to_string()], ..agent("a", MARKED) };
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    let copy = home.root.join("state-after");
    let record;
    {
        let runner = home.runner();
        record = machines.begin(&runner, definition);
        let stop = StopFlag::new();
        std::thread::scope(|scope| {
            let judging = scope.spawn(|| runner.judge_delivery(&record, &work.delivery, &stop, &Unobserved));
            wait_until("the check runs", || signals.join("begun").exists());
            copy_folder(&home.root.join("state"), &copy);
            stop.raise();
            let stopped = judging.join().unwrap().unwrap_err();
            let is_stopped = matches!(&stopped, RunnerError::Delivery { source: DeliveryError::Stopped, .. });
            assert!(is_stopped, "{stopped}");
        });
        // Nothing is decided.
        assert_eq!(runner.records().unwrap()[0].verdict, None);
    }
    between(&machines);
    let runner = Runner::open(RunnerConfig { state_folder: copy, ..home.config() }).unwrap();
    let judged = judge(&runner, &record, &work.delivery).unwrap();
    assert_eq!(judged.head, work.local.head);
    (machines, judged)
}

#[test]
fn a_second_judgement_comes_to_the_same_verdict() {
    let (machines, judged) = judged_again(|machines| {
        // The import is done, so the repository has the commit now.
        assert_ne!(machines.home.git(&["rev-parse", "cocode/7-a"]), "");
    });
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert!(judged.verdict.unwrap().is_checked());
    assert_eq!(machines.home.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn it_does_so_if_the_import_is_lost() {
    let (_, judged) = judged_again(|machines| {
        let home = &machines.home;
        let worktree = home.worktree();
        home.git(&["worktree", "remove", "--force", &worktree.to_string_lossy()]);
        home.git(&["branch", "-q", "-D", "cocode/7-a"]);
        home.git(&["reflog", "expire", "--expire=now", "--all"]);
        home.git(&["gc", "-q", "--prune=now"]);
    });
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
}

#[test]
fn a_commit_that_home_has_without_a_record_of_its_delivery_is_not_new() {
    let machines = Machines::new();
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    let task = work.task.to_string_lossy().into_owned();
    machines.home.git(&["fetch", "-q", &task, "cocode/7-a:refs/heads/side"]);
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let judged = judge(&runner, &record, &work.delivery).unwrap();
    assert_eq!(failures(&judged), ["new"], "{judged:?}");
}
