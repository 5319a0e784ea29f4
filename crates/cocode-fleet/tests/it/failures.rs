//! Failures of the server: away, restarted, without its disk, frozen, full.

use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use cocode_fleet::{ConnectError, FleetConnection, Notice, Role, WorkerStatus};

use crate::fakes::{FakeExecutor, FakeJudge, Report, ready};
use crate::fixture::{Fixture, name, task_name};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_wait_at_home_while_the_server_is_away() {
    let Some(mut fixture) = Fixture::start("tasks_wait_at_home_while_the_server_is_away") else { return };
    fixture.server.kill();
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let problem = reports
        .wait(|report| match report {
            Report::Connection(Some(problem)) => Some(problem.clone()),
            _ => None,
        })
        .await;
    assert!(problem.starts_with("no server answers at nats://127.0.0.1:"), "{problem}");
    // A worker says that the server is away, too.
    let executor = FakeExecutor::ready("the commits");
    let worker = cocode_fleet::FleetWorker::start(fixture.worker_config("south"), executor.clone());
    let mut status = worker.status();
    let is_away = |status: &WorkerStatus| matches!(status, WorkerStatus::Connecting(Some(_)));
    assert!(status.wait_for(is_away).await.is_ok());
    fixture.server.start_again();
    reports.wait(|report| matches!(report, Report::Connection(None)).then_some(())).await;
    reports.judged(&task_name("fixer-1")).await;
    fixture.server.kill();
    let is_troubled = |status: &WorkerStatus| matches!(status, WorkerStatus::Troubled(_));
    assert!(status.wait_for(is_troubled).await.is_ok());
    fixture.server.start_again();
    assert!(status.wait_for(|status| *status == WorkerStatus::Working).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restarted_server_costs_nothing() {
    let Some(mut fixture) = Fixture::start("a_restarted_server_costs_nothing") else { return };
    // However long the start takes, the host keeps its task.
    (fixture.timings.lease, fixture.timings.ack_wait) = (Duration::from_secs(30), Duration::from_secs(30));
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let (go, goes) = mpsc::channel::<()>();
    let goes = Mutex::new(goes);
    let executor = FakeExecutor::new(move |_, _, _, result| {
        started.send(()).unwrap();
        let _ = goes.lock().unwrap().recv();
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    starts.recv().await.unwrap();
    fixture.server.kill();
    // The agent ends while the server is away.
    go.send(()).unwrap();
    fixture.server.start_again();
    let (host, epoch, _) = reports.judged(&task_name("fixer-1")).await;
    assert_eq!((host, epoch), (name("north"), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_disk_means_redo_and_not_loss() {
    let Some(mut fixture) = Fixture::start("a_lost_disk_means_redo_and_not_loss") else { return };
    let (judge, mut reports) = FakeJudge::new();
    for agent in ["fixer-1", "fixer-2", "fixer-3"] {
        judge.add(fixture.task(agent).await);
    }
    let _home = fixture.home(&judge);
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let executor = FakeExecutor::new(move |_, stop, _, result| {
        // The first starts end with the disk.
        if started.send(()).is_ok() {
            let _ = stop.wait(Duration::from_secs(30));
        }
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    for _ in 0..2 {
        starts.recv().await.unwrap();
    }
    drop(starts);
    fixture.server.kill();
    fixture.server.delete_store();
    fixture.server.start_again();
    let mut judged = std::collections::BTreeSet::new();
    while judged.len() < 3 {
        let name = reports.wait(|report| match report {
            Report::Judged { name, .. } => Some(name.clone()),
            _ => None,
        });
        assert!(judged.insert(name.await), "judged twice");
    }
    assert_eq!(judge.unresolved_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_to_a_frozen_server_ends() {
    let Some(fixture) = Fixture::start("every_call_to_a_frozen_server_ends") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let home = fixture.home(&judge);
    let connection = fixture.connect(Role::Home).await;
    reports.wait(|report| matches!(report, Report::Connection(None)).then_some(())).await;
    let submitted = fixture.task("fixer-1").await;
    let executor = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("north", &executor).await;

    fixture.server.freeze();
    let begin = Instant::now();
    let task = task_name("fixer-1");
    let (north, address) = (name("north"), fixture.address(Role::Home));
    let (hosts, records, waiting, drained, cancelled, prepared, events, opened) = tokio::join!(
        connection.hosts(),
        connection.records(),
        connection.waiting_tasks(),
        // A call without an answer may be carried out later, after the calls that follow it.
        connection.drain_host(&north, false),
        connection.cancel_task(&task, "other"),
        connection.prepare(&fixture.limits),
        connection.events(&task),
        FleetConnection::open(&address, fixture.timings),
    );
    let took = begin.elapsed();
    assert!(hosts.is_err() && records.is_err() && waiting.is_err() && drained.is_err());
    assert!(cancelled.is_err() && prepared.is_err() && events.is_err());
    assert!(matches!(opened, Err(ConnectError::NoAnswer { .. })), "{opened:?}");
    assert!(took < fixture.timings.deadline * 2, "{took:?}");
    judge.add(submitted);
    home.journal_changed();
    reports.wait(|report| matches!(report, Report::Connection(Some(_))).then_some(())).await;

    fixture.server.thaw();
    reports.judged(&task).await;
    connection.hosts().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_is_said_and_emptied() {
    let Some(mut fixture) = Fixture::start("a_full_queue_is_said_and_emptied") else { return };
    fixture.limits.tasks = 2;
    let (judge, mut reports) = FakeJudge::new();
    let agents = ["a", "b", "c", "d", "e"];
    for agent in agents {
        judge.add(fixture.task(agent).await);
    }
    let _home = fixture.home(&judge);
    let waiting = reports.wait(|report| match report {
        Report::Notice(_, Notice::QueueFull { waiting }) => Some(*waiting),
        _ => None,
    });
    assert_eq!(waiting.await, 2);
    let executor = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("north", &executor).await;
    // All have the same commits, and none is judged for another. Waiting for room has not raised the epoch.
    for _ in agents {
        let epoch = reports.wait(|report| match report {
            Report::Judged { epoch, .. } => Some(*epoch),
            _ => None,
        });
        assert_eq!(epoch.await, 2);
    }
}
