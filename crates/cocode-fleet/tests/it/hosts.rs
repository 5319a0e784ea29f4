//! Hosts at work: classes, slots, bases, log lines, stopping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cocode_fleet::{BaseBundle, BaseFile, ExecuteError, Notice, Role, RunState, StopReason};

use crate::fakes::{FakeExecutor, FakeJudge, Report, bundle_file, ready};
use crate::fixture::{BASE, Fixture, bundle_name, name, task_name};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_class_is_taken_by_its_hosts_only() {
    let Some(fixture) = Fixture::start("a_class_is_taken_by_its_hosts_only") else { return };
    let (judge, mut reports) = FakeJudge::new();
    for agent in ["a", "b", "c", "d"] {
        let mut submitted = fixture.task(agent).await;
        submitted.task.class = "gpu".parse().unwrap();
        judge.add(submitted);
    }
    judge.add(fixture.task("plain").await);
    let _home = fixture.home(&judge);
    let plain = FakeExecutor::ready("the commits");
    let _plain = fixture.worker("north", &plain).await;
    // The host without the label works, and leaves the others alone.
    reports.judged(&task_name("plain")).await;
    let labelled = FakeExecutor::ready("the commits");
    labelled.offer.lock().unwrap().labels = vec!["gpu".parse().unwrap()];
    labelled.offer.lock().unwrap().slots = 1;
    let _labelled = fixture.worker("south", &labelled).await;
    for _ in 0..4 {
        let host = reports.wait(|report| match report {
            Report::Judged { host, .. } => Some(host.clone()),
            _ => None,
        });
        assert_eq!(host.await, name("south"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_has_no_more_tasks_than_slots() {
    let Some(fixture) = Fixture::start("a_host_has_no_more_tasks_than_slots") else { return };
    let (judge, mut reports) = FakeJudge::new();
    for number in 0..8 {
        judge.add(fixture.task(&format!("agent-{number}")).await);
    }
    let _home = fixture.home(&judge);
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, highest) = (Arc::clone(&running), Arc::clone(&most));
    let executor = FakeExecutor::new(move |_, stop, _, result| {
        highest.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Long enough for a third one to come, if it could.
        let _ = stop.wait(Duration::from_millis(50));
        counted.fetch_sub(1, Ordering::SeqCst);
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    for _ in 0..8 {
        reports.wait(|report| matches!(report, Report::Judged { .. }).then_some(())).await;
    }
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_bundles_that_a_host_lacks_are_fetched() {
    let Some(fixture) = Fixture::start("only_the_bundles_that_a_host_lacks_are_fetched") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let (middle, newest) = ("1".repeat(40), "2".repeat(40));
    let mut submitted = fixture.task("fixer-1").await;
    for tip in [&middle, &newest] {
        let path = bundle_file(fixture.folder.path(), tip, 10);
        let base = BaseBundle { bundle: bundle_name(&path), tip: tip.clone() };
        submitted.task.bases.push(base.clone());
        submitted.bases.push(BaseFile { base, path });
    }
    submitted.task.base_commit.clone_from(&newest);
    judge.add(submitted);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    executor.bases.lock().unwrap().insert(middle.clone());
    let _worker = fixture.worker("north", &executor).await;
    reports.judged(&task_name("fixer-1")).await;
    let bases = executor.bases.lock().unwrap().clone();
    assert!(bases.contains(&newest) && !bases.contains(BASE), "{bases:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_result_arrives_whole() {
    let Some(fixture) = Fixture::start("a_large_result_arrives_whole") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    // Several chunks, each with other bytes, and a last one that is not full.
    let content: Vec<u8> = (0..5_000_001_u32).map(|number| (number % 251) as u8).collect();
    let bytes = content.clone();
    let executor = FakeExecutor::new(move |_, _, _, result| {
        std::fs::write(result, &bytes).unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    assert!(reports.judged(&task_name("fixer-1")).await.2.unwrap() == content);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_are_in_order_and_those_left_out_are_counted() {
    let Some(fixture) = Fixture::start("lines_are_in_order_and_those_left_out_are_counted") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let total = 20_000_u64;
    let executor = FakeExecutor::new(move |_, _, events, result| {
        for number in 0..total {
            events.log_line(&format!("{number}"));
        }
        // One more comes when there is room, and says how many were not.
        std::thread::sleep(Duration::from_millis(200));
        events.log_line(&"long ".repeat(10_000));
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    let (mut lines, left) = reports.lines().await;
    let last = lines.pop().unwrap();
    assert!(last.starts_with("long ") && last.len() <= 8 << 10);
    assert_eq!(lines.len() as u64 + left, total);
    assert!(left > 0, "the control: there were too many");
    let numbers: Vec<u64> = lines.iter().map(|line| line.parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}

/// Has an agent print lines and end; returns the lines that home got, and the number that were left out.
async fn printed(test: &str, lines: Vec<String>) -> Option<(Vec<String>, u64)> {
    let fixture = Fixture::start(test)?;
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::new(move |_, _, events, result| {
        lines.iter().for_each(|line| events.log_line(line));
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    Some(reports.lines().await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_grow_as_json_arrive() {
    // As JSON, each character is six bytes, and a few such lines are more than home reads of one message.
    let lines: Vec<String> = (0..40).map(|_| "\u{1}".repeat(8 << 10)).collect();
    let Some(printed) = printed("lines_that_grow_as_json_arrive", lines.clone()).await else { return };
    assert!(printed == (lines, 0), "{} lines, {} left out", printed.0.len(), printed.1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_left_out_at_the_end_are_counted() {
    let lines: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    let Some((lines, left)) = printed("lines_left_out_at_the_end_are_counted", lines).await else { return };
    assert_eq!(lines.len() as u64 + left, 20_000);
    assert!(left > 0, "the control: there were too many");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_worker_gives_its_task_back() {
    let Some(mut fixture) = Fixture::start("a_stopped_worker_gives_its_task_back") else { return };
    // Without giving back, the other host would wait longer than the test does.
    (fixture.timings.lease, fixture.timings.ack_wait) = (Duration::from_secs(600), Duration::from_secs(600));
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let (stopped, mut stops) = tokio::sync::mpsc::unbounded_channel();
    let executor = FakeExecutor::new(move |_, stop, _, _| {
        started.send(()).unwrap();
        stopped.send(stop.wait(Duration::from_secs(30))).unwrap();
        Ok(ready())
    });
    let first = fixture.worker("north", &executor).await;
    starts.recv().await.unwrap();
    first.stop().await;
    assert_eq!(stops.recv().await.unwrap(), Some(StopReason::WorkerStops));
    let connection = fixture.connect(Role::Home).await;
    let (_, record) = connection.records().await.unwrap().remove(0);
    assert_eq!((record.state, record.attempts.len()), (RunState::Pending, 0));
    let second = FakeExecutor::ready("the commits");
    let _second = fixture.worker("south", &second).await;
    assert_eq!(reports.judged(&task_name("fixer-1")).await.0, name("south"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_executor_that_panics_costs_an_attempt() {
    let Some(fixture) = Fixture::start("an_executor_that_panics_costs_an_attempt") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let has_panicked = AtomicBool::new(false);
    let executor = FakeExecutor::new(move |_, _, _, result| {
        assert!(has_panicked.swap(true, Ordering::Relaxed), "this panic is a part of the test");
        std::fs::write(result, "the commits").unwrap();
        Ok(ready())
    });
    let _worker = fixture.worker("north", &executor).await;
    let task = task_name("fixer-1");
    let reason = reports.notice(&task, |notice| match notice {
        Notice::AttemptFailed { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    assert_eq!(reason.await, "the executor panicked");
    reports.judged(&task).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_reason_is_cut_and_arrives() {
    let Some(fixture) = Fixture::start("a_long_reason_is_cut_and_arrives") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::new(|_, _, _, _| Err(ExecuteError::Failed("é\u{1}".repeat(100_000))));
    let _worker = fixture.worker("north", &executor).await;
    let task = task_name("fixer-1");
    let reason = reports.notice(&task, |notice| match notice {
        Notice::AttemptFailed { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    let reason = reason.await;
    assert!(reason.starts_with("é\u{1}é") && (8_190..=8 << 10).contains(&reason.len()), "{}", reason.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_never_ends_loses_the_task() {
    let Some(mut fixture) = Fixture::start("a_host_that_never_ends_loses_the_task") else { return };
    fixture.timings.overtime = Duration::from_millis(500);
    let (judge, mut reports) = FakeJudge::new();
    let mut submitted = fixture.task("fixer-1").await;
    submitted.task.timeout_seconds = Some(1);
    judge.add(submitted);
    let _home = fixture.home(&judge);
    let (go, goes) = std::sync::mpsc::channel::<()>();
    let goes = std::sync::Mutex::new(goes);
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let executor = FakeExecutor::new(move |_, _, _, _| {
        started.send(()).unwrap();
        let _ = goes.lock().unwrap().recv();
        Ok(ready())
    });
    executor.offer.lock().unwrap().slots = 1;
    let _first = fixture.worker("north", &executor).await;
    starts.recv().await.unwrap();
    let second = FakeExecutor::ready("the commits");
    let _second = fixture.worker("south", &second).await;
    assert_eq!(reports.judged(&task_name("fixer-1")).await.0, name("south"));
    let connection = fixture.connect(Role::Home).await;
    let (_, record) = connection.records().await.unwrap().remove(0);
    assert_eq!(record.attempts[0].reason, "the host held the task beyond its deadline");
    drop(go);
}
