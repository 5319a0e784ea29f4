//! One result for each task, whatever happens to hosts and messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use async_nats::jetstream::{self, message::PublishMessage};
use cocode_fleet::{ClassName, EventKind, Notice, Role, StopReason, TaskLimits};

use crate::fakes::{FakeExecutor, FakeJudge, Report, ready};
use crate::fixture::{Fixture, name, task, task_name};
use crate::partition::Partition;

/// An agent that says that it has started, and ends when the test sends a word or it is stopped.
fn waiting_agent(
    content: &'static str,
) -> (Arc<FakeExecutor>, tokio::sync::mpsc::UnboundedReceiver<()>, mpsc::Sender<()>) {
    let (started, starts) = tokio::sync::mpsc::unbounded_channel();
    let (go, goes) = mpsc::channel::<()>();
    let goes = Mutex::new(goes);
    let executor = FakeExecutor::new(move |_, stop, _, result| {
        started.send(()).unwrap();
        while stop.reason().is_none() && goes.lock().unwrap().recv_timeout(Duration::from_millis(10)).is_err()
        {
        }
        std::fs::write(result, content).unwrap();
        Ok(ready())
    });
    (executor, starts, go)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_worker_is_replaced() {
    let Some(fixture) = Fixture::start("a_lost_worker_is_replaced") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let (executor, mut starts, _go) = waiting_agent("the lost commits");
    let lost = fixture.worker("north", &executor).await;
    starts.recv().await.unwrap();
    drop(lost);

    let second = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("south", &second).await;
    let (host, epoch, bundle) = reports.judged(&task_name("fixer-1")).await;
    assert_eq!((host, epoch), (name("south"), 3));
    assert_eq!(bundle.unwrap(), b"the commits");
    let connection = fixture.connect(Role::Home).await;
    let (_, record) = connection.records().await.unwrap().remove(0);
    let attempts: Vec<_> = record.attempts.iter().map(|one| (one.host.as_str(), one.epoch)).collect();
    assert_eq!(attempts, [("north", 2)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_behind_a_partition_is_too_late() {
    let Some(fixture) = Fixture::start("a_worker_behind_a_partition_is_too_late") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    judge.add(fixture.task("other").await);
    let _home = fixture.home(&judge);

    // The agent cannot be stopped, as one that hangs.
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let (go, goes) = mpsc::channel::<()>();
    let goes = Mutex::new(goes);
    let first = FakeExecutor::new(move |task, _, _, result| {
        started.send(task.name.clone()).unwrap();
        let _ = goes.lock().unwrap().recv();
        std::fs::write(result, "late commits").unwrap();
        Ok(ready())
    });
    first.offer.lock().unwrap().slots = 1;
    let partition = Partition::before(fixture.server.port()).await;
    let mut config = fixture.worker_config("north");
    config.address.url = partition.url();
    let worker = cocode_fleet::FleetWorker::start(config, first.clone());
    let first_task = starts.recv().await;
    partition.cut();

    let second = FakeExecutor::ready("the commits");
    let _second = fixture.worker("south", &second).await;
    let mut judged = std::collections::BTreeSet::new();
    while judged.len() < 2 {
        let (name, host) = reports
            .wait(|report| match report {
                Report::Judged { name, host, .. } => Some((name.clone(), host.clone())),
                _ => None,
            })
            .await;
        assert_eq!(host.as_str(), "south");
        judged.insert(name);
    }
    // The agent ends while its host is still alone; afterwards the host learns that it is too late, and nothing is judged again.
    go.send(()).unwrap();
    partition.heal();
    let connection = fixture.connect(Role::Home).await;
    let mut events = connection.events(&first_task.unwrap()).await.unwrap();
    let late = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let (host, event) = events.next().await.unwrap().unwrap();
            if let EventKind::LateUnused { reason } = event.kind {
                break (host, reason);
            }
        }
    });
    let (host, reason) = late.await.expect("the late host says what became of its work");
    assert_eq!(host, name("north"));
    assert!(reason.contains("the task was given to another host"), "{reason}");
    worker.stop().await;
    for (_, record) in connection.records().await.unwrap() {
        assert_eq!(record.host, Some(name("south")));
    }
    assert!(!reports.rest().iter().any(|report| matches!(report, Report::Judged { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_task_stops_the_agent() {
    let Some(fixture) = Fixture::start("a_worker_that_lost_its_task_stops_the_agent") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let home = fixture.home(&judge);
    let (reason, mut reasons) = tokio::sync::mpsc::unbounded_channel();
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let runs = AtomicUsize::new(0);
    let executor = FakeExecutor::new(move |_, stop, _, result| {
        std::fs::write(result, "commits").unwrap();
        if runs.fetch_add(1, Ordering::Relaxed) == 0 {
            started.send(()).unwrap();
            reason.send(stop.wait(Duration::from_secs(30))).unwrap();
        }
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    starts.recv().await.unwrap();
    // Another generation: the journal has been changed by its user.
    let mut again = fixture.task("fixer-1").await;
    again.task.generation = "g2".to_owned();
    judge.add(again);
    home.journal_changed();
    assert_eq!(reasons.recv().await.unwrap(), Some(StopReason::FenceLost));
    let (_, epoch, _) = reports.judged(&task_name("fixer-1")).await;
    assert_eq!(epoch, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_comes_twice_is_done_once() {
    let Some(fixture) = Fixture::start("a_message_that_comes_twice_is_done_once") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let executor = FakeExecutor::new(move |_, _, _, result| {
        counted.fetch_add(1, Ordering::Relaxed);
        std::fs::write(result, "commits").unwrap();
        Ok(ready())
    });
    let worker = fixture.worker("north", &executor).await;
    reports.judged(&task_name("fixer-1")).await;

    let client = async_nats::connect(fixture.server.url()).await.unwrap();
    let context = jetstream::new(client);
    let message = fixture.task("fixer-1").await.task.render(&TaskLimits::default()).unwrap();
    let subject = format!("agentd.v1.crew.task.{}.run1.fixer-1", ClassName::any());
    let publish = PublishMessage::build().payload(message.into()).message_id("run1/fixer-1/again");
    // The first message is acknowledged after it was judged.
    while context.send_publish(subject.clone(), publish.clone()).await.unwrap().await.is_err() {}
    // A later task shows that the worker has examined it.
    judge.add(fixture.task("other").await);
    _home.journal_changed();
    reports.judged(&task_name("other")).await;
    worker.stop().await;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let connection = fixture.connect(Role::Home).await;
    assert_eq!(connection.waiting_tasks().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_the_server_remembers_is_not_fallen_for() {
    let Some(fixture) = Fixture::start("an_id_that_the_server_remembers_is_not_fallen_for") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let name = task_name("fixer-1");
    let home = fixture.home(&judge);
    let queued = |notice: &Notice| match notice {
        Notice::Queued { epoch } => Some(*epoch),
        _ => None,
    };
    assert_eq!(reports.notice(&name, queued).await, 1);
    drop(home);

    // Message and record are lost, and the ids are not.
    let context = jetstream::new(async_nats::connect(fixture.server.url()).await.unwrap());
    for stream in ["agentd_crew_tasks", "KV_agentd_crew_runs"] {
        context.get_stream(stream).await.unwrap().purge().await.unwrap();
    }
    let message = task("fixer-1").render(&TaskLimits::default()).unwrap();
    let publish = PublishMessage::build().payload(message.into()).message_id("run1/fixer-1/1");
    let subject = "agentd.v1.crew.task.any.run1.fixer-1";
    let dropped = context.send_publish(subject, publish).await.unwrap().await.unwrap();
    assert!(dropped.duplicate, "the control: the server drops the id");

    let _home = fixture.home(&judge);
    assert_eq!(reports.notice(&name, queued).await, 2);
    let executor = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("north", &executor).await;
    assert_eq!(reports.judged(&name).await.1, 3);
}
