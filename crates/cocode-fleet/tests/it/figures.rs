//! Figures that are measured by hand: `cargo test -p cocode-fleet --test it -- --ignored --nocapture figures`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use cocode_fleet::{Notice, SubmittedTask, Task};

use crate::fakes::{FakeExecutor, FakeJudge, Report};
use crate::fixture::{BASE, Fixture, task, task_name};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn figures_of_ten_thousand_tasks() {
    let Some(mut fixture) = Fixture::start("figures_of_ten_thousand_tasks") else { return };
    fixture.limits.tasks = 20_000;
    fixture.timings.poll = Duration::from_secs(5);
    let (judge, mut reports) = FakeJudge::new();
    let count = 10_000;
    for number in 0..count {
        let body = "x".repeat(2000);
        let task = Task { issue_body: body, ..task(&format!("agent-{number}")) };
        judge.add(SubmittedTask { task, bases: Vec::new() });
    }
    let begin = Instant::now();
    let home = fixture.home(&judge);
    for _ in 0..count {
        reports.wait(|report| matches!(report, Report::Notice(_, Notice::Queued { .. })).then_some(())).await;
    }
    let took = begin.elapsed();
    eprintln!("queued {count} in {took:?}: {:.0}/s", f64::from(count) / took.as_secs_f64());
    eprintln!(
        "{}",
        std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .unwrap()
    );

    let executor = FakeExecutor::ready("the commits");
    executor.bases.lock().unwrap().insert(BASE.to_owned());
    executor.offer.lock().unwrap().slots = 32;
    let begin = Instant::now();
    let _worker = fixture.worker("north", &executor).await;
    let done = 1000;
    for _ in 0..done {
        reports.wait(|report| matches!(report, Report::Judged { .. }).then_some(())).await;
    }
    let took = begin.elapsed();
    eprintln!("done {done} in {took:?}: {:.0}/s", f64::from(done) / took.as_secs_f64());
    drop(home);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn figures_of_dispatch() {
    let Some(fixture) = Fixture::start("figures_of_dispatch") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    executor.bases.lock().unwrap().insert(BASE.to_owned());
    let _worker = fixture.worker("north", &executor).await;
    let times = Mutex::new(Vec::new());
    for number in 0..200 {
        let name = task_name(&format!("agent-{number}"));
        let task = Task { name: name.clone(), ..task("x") };
        let begin = Instant::now();
        judge.add(SubmittedTask { task, bases: Vec::new() });
        home.journal_changed();
        reports.wait(|report| matches!(report, Report::Lines(of, ..) if *of == name).then_some(())).await;
        times.lock().unwrap().push(begin.elapsed());
        reports.judged(&name).await;
    }
    let mut times = times.into_inner().unwrap();
    times.sort();
    eprintln!("dispatch to first line: p50 {:?}, p99 {:?}", times[100], times[197]);
}
