//! Troubles of tasks and hosts: poison, cancelling, draining, needs, bundles.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use cocode_fleet::{ExecuteError, JudgeError, Notice, Role, RunState, StopReason, Unmet};

use crate::fakes::{FakeExecutor, FakeJudge, Report, ready};
use crate::fixture::{Fixture, name, task_name};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poison_task_is_given_up_and_can_be_tried_again() {
    let Some(fixture) = Fixture::start("a_poison_task_is_given_up_and_can_be_tried_again") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let home = fixture.home(&judge);
    let is_cured = Arc::new(AtomicBool::new(false));
    let cured = Arc::clone(&is_cured);
    let executor = FakeExecutor::new(move |_, _, _, result| {
        if !cured.load(Ordering::Relaxed) {
            return Err(ExecuteError::Failed("the program is not there".to_owned()));
        }
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    let task = task_name("fixer-1");
    let reasons = reports.notice(&task, |notice| match notice {
        Notice::Dead { reasons } => Some(reasons.clone()),
        _ => None,
    });
    assert_eq!(reasons.await, vec!["north: the program is not there"; 3]);
    let context = jetstream::new(async_nats::connect(fixture.server.url()).await.unwrap());
    let dead = context.get_stream("agentd_crew_dead").await.unwrap();
    assert_eq!(dead.cached_info().state.messages, 1);

    is_cured.store(true, Ordering::Relaxed);
    let mut again = fixture.task("fixer-1").await;
    again.task.generation = "g2".to_owned();
    judge.add(again);
    home.journal_changed();
    reports.judged(&task).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_task_is_cancelled_soon() {
    let Some(fixture) = Fixture::start("a_running_task_is_cancelled_soon") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let (stopped, mut stops) = tokio::sync::mpsc::unbounded_channel();
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let executor = FakeExecutor::new(move |_, stop, _, _| {
        started.send(()).unwrap();
        stopped.send(stop.wait(Duration::from_secs(30))).unwrap();
        Ok(ready())
    });
    let worker = fixture.worker("north", &executor).await;
    starts.recv().await.unwrap();
    let connection = fixture.connect(Role::Home).await;
    let task = task_name("fixer-1");
    let begin = Instant::now();
    connection.cancel_task(&task, "g1").await.unwrap();
    assert_eq!(stops.recv().await.unwrap(), Some(StopReason::Cancelled));
    // Less than the 30 seconds that the executor waits by itself.
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    reports.notice(&task, |notice| matches!(notice, Notice::Cancelled).then_some(())).await;
    worker.stop().await;
    assert_eq!(connection.records().await.unwrap()[0].1.state, RunState::Cancelled);
    assert_eq!(connection.waiting_tasks().await.unwrap(), 0);
    assert_eq!(judge.unresolved_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_task_is_cancelled_and_never_started() {
    let Some(fixture) = Fixture::start("a_waiting_task_is_cancelled_and_never_started") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let home = fixture.home(&judge);
    let task = task_name("fixer-1");
    reports.notice(&task, |notice| matches!(notice, Notice::Queued { .. }).then_some(())).await;
    let connection = fixture.connect(Role::Home).await;
    connection.cancel_task(&task, "g1").await.unwrap();
    reports.notice(&task, |notice| matches!(notice, Notice::Cancelled).then_some(())).await;

    // A task that is cancelled before it was ever published ends without a host, too.
    connection.cancel_task(&task_name("fixer-2"), "g1").await.unwrap();
    judge.add(fixture.task("fixer-2").await);
    home.journal_changed();
    reports.notice(&task_name("fixer-2"), |notice| matches!(notice, Notice::Cancelled).then_some(())).await;
    assert_eq!(connection.waiting_tasks().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivered_task_that_home_cannot_judge_is_cancelled() {
    let Some(fixture) = Fixture::start("a_delivered_task_that_home_cannot_judge_is_cancelled") else {
        return;
    };
    let (judging, mut judgements) = tokio::sync::mpsc::unbounded_channel();
    let (judge, mut reports) = FakeJudge::with_verdict(move |delivery| {
        let _ = judging.send(delivery.task.name.clone());
        Err(JudgeError::Failed("the disk is full".to_owned()))
    });
    let (task, other) = (task_name("fixer-1"), task_name("fixer-2"));
    judge.add(fixture.task("fixer-1").await);
    judge.add(fixture.task("fixer-2").await);
    let home = fixture.home(&judge);
    let _worker = fixture.worker("north", &FakeExecutor::ready("the commits")).await;
    let mut delivered = std::collections::HashSet::new();
    while delivered.len() < 2 {
        delivered.insert(judgements.recv().await.unwrap());
    }
    let connection = fixture.connect(Role::Home).await;
    connection.cancel_task(&task, "g1").await.unwrap();
    // It rests after its failures, and no record changes.
    home.journal_changed();
    reports.notice(&task, |notice| matches!(notice, Notice::Cancelled).then_some(())).await;
    // The control: the other one is judged again.
    while judgements.recv().await.unwrap() != other {}
    assert_eq!(judge.unresolved_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draining_host_takes_nothing() {
    let Some(fixture) = Fixture::start("a_draining_host_takes_nothing") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let home = fixture.home(&judge);
    let connection = fixture.connect(Role::Home).await;
    connection.prepare(&fixture.limits).await.unwrap();
    let executor = FakeExecutor::ready("from the north");
    let _north = fixture.worker("north", &executor).await;
    connection.drain_host(&name("north"), true).await.unwrap();
    while !connection.hosts().await.unwrap().iter().any(|(_, report)| report.is_draining) {}
    for agent in ["a", "b", "c", "d"] {
        judge.add(fixture.task(agent).await);
    }
    home.journal_changed();
    let executor = FakeExecutor::ready("from the south");
    let south = fixture.worker("south", &executor).await;
    for _ in 0..4 {
        let host = reports.wait(|report| match report {
            Report::Judged { host, .. } => Some(host.clone()),
            _ => None,
        });
        assert_eq!(host.await, name("south"));
    }
    south.stop().await;
    connection.drain_host(&name("north"), false).await.unwrap();
    judge.add(fixture.task("e").await);
    home.journal_changed();
    assert_eq!(reports.judged(&task_name("e")).await.0, name("north"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_no_host_can_take_is_reported_with_its_needs() {
    let Some(fixture) = Fixture::start("a_task_that_no_host_can_take_is_reported_with_its_needs") else {
        return;
    };
    let (judge, mut reports) = FakeJudge::new();
    let mut submitted = fixture.task("fixer-1").await;
    submitted.task.labels = vec!["gpu".parse().unwrap()];
    judge.add(submitted);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    executor.offer.lock().unwrap().agents.clear();
    let _worker = fixture.worker("north", &executor).await;
    let task = task_name("fixer-1");
    let unmet = reports.notice(&task, |notice| match notice {
        Notice::NoHostFits { hosts } => hosts.first().cloned(),
        _ => None,
    });
    let expected = vec![Unmet::Agent("fixer".parse().unwrap()), Unmet::Label("gpu".parse().unwrap())];
    assert_eq!(unmet.await, (name("north"), expected));
    let connection = fixture.connect(Role::Home).await;
    let refusal = loop {
        let hosts = connection.hosts().await.unwrap();
        if let Some(refusal) = hosts.into_iter().find_map(|(_, report)| report.refusal) {
            break refusal;
        }
    };
    assert_eq!(refusal, "run1/fixer-1: no definition of the agent fixer, not labelled gpu");

    // The host learns both.
    executor.offer.lock().unwrap().agents = vec!["fixer".parse().unwrap()];
    executor.offer.lock().unwrap().labels = vec!["gpu".parse().unwrap()];
    reports.judged(&task).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_with_a_full_disk_takes_nothing_and_says_so() {
    let Some(fixture) = Fixture::start("a_host_with_a_full_disk_takes_nothing_and_says_so") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    executor.offer.lock().unwrap().free_disk_bytes = 0;
    let _worker = fixture.worker("north", &executor).await;
    let task = task_name("fixer-1");
    let hosts = reports.notice(&task, |notice| match notice {
        Notice::NoHostFits { hosts } if !hosts.is_empty() => Some(hosts.clone()),
        _ => None,
    });
    assert_eq!(hosts.await, [(name("north"), vec![Unmet::Disk])]);
    executor.offer.lock().unwrap().free_disk_bytes = 1 << 40;
    reports.judged(&task).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_base_is_uploaded_again() {
    let Some(fixture) = Fixture::start("a_missing_base_is_uploaded_again") else { return };
    base_is_repaired(&fixture, async |context: &jetstream::Context| {
        context.get_stream("agentd_crew_bases").await.unwrap().purge().await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_that_was_replaced_is_refused_and_uploaded_again() {
    let Some(fixture) = Fixture::start("a_base_that_was_replaced_is_refused_and_uploaded_again") else {
        return;
    };
    let digest = fixture.task("fixer-1").await.bases[0].base.bundle.digest.clone();
    base_is_repaired(&fixture, async |context: &jetstream::Context| {
        let content = vec![b'z'; 512 << 10];
        let subject = format!("agentd.v1.crew.base.{digest}.0");
        context.publish(subject, content.into()).await.unwrap().await.unwrap();
    })
    .await;
}

/// Damages the bases after they were published, and waits until the task is judged all the same.
async fn base_is_repaired(fixture: &Fixture, damage: impl AsyncFn(&jetstream::Context)) {
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let task = task_name("fixer-1");
    reports.notice(&task, |notice| matches!(notice, Notice::Queued { .. }).then_some(())).await;
    let context = jetstream::new(async_nats::connect(fixture.server.url()).await.unwrap());
    damage(&context).await;
    let executor = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("north", &executor).await;
    let repaired = |notice: &Notice| matches!(notice, Notice::BaseUploadedAgain { .. }).then_some(());
    reports.notice(&task, repaired).await;
    reports.judged(&task).await;
    let connection = fixture.connect(Role::Home).await;
    assert_eq!(connection.records().await.unwrap()[0].1.attempts, [], "the host is not to blame");
}
