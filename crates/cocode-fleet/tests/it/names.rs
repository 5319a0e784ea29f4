//! Two processes under the name of one host.

use std::time::{Duration, Instant};

use cocode_fleet::{FleetWorker, Role, WorkerStatus};

use crate::fakes::{FakeExecutor, FakeJudge};
use crate::fixture::{Fixture, task_name};

async fn status_is(worker: &FleetWorker, wanted: WorkerStatus) {
    let mut status = worker.status();
    let waiting = tokio::time::timeout(Duration::from_secs(30), async {
        status.wait_for(|status| *status == wanted).await.is_ok()
    });
    assert_eq!(waiting.await, Ok(true), "the worker is {:?}", worker.status().borrow());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_host_of_a_name_is_refused() {
    let Some(fixture) = Fixture::start("a_second_host_of_a_name_is_refused") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    let first = fixture.worker("north", &executor).await;
    let mut config = fixture.worker_config("north");
    config.installation = "another machine".to_owned();
    let second = FleetWorker::start(config, executor.clone());
    status_is(&second, WorkerStatus::NameTaken).await;
    // The first one works on.
    assert_eq!(*first.status().borrow(), WorkerStatus::Working);
    judge.add(fixture.task("fixer-1").await);
    reports.judged(&task_name("fixer-1")).await;
    assert_eq!(fixture.connect(Role::Home).await.hosts().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restarted_host_has_its_name_at_once() {
    let Some(mut fixture) = Fixture::start("a_restarted_host_has_its_name_at_once") else { return };
    fixture.timings.lease = Duration::from_secs(60);
    let (judge, mut reports) = FakeJudge::new();
    let _home = fixture.home(&judge);
    judge.add(fixture.task("fixer-1").await);
    let executor = FakeExecutor::ready("the commits");
    let first = fixture.worker("north", &executor).await;
    reports.judged(&task_name("fixer-1")).await;
    // As a crash does.
    drop(first);
    let began = Instant::now();
    let _second = fixture.worker("north", &executor).await;
    assert!(began.elapsed() < fixture.timings.lease / 2, "it waited for the report to expire");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_free_when_its_dead_host_is_forgotten() {
    let Some(fixture) = Fixture::start("a_name_is_free_when_its_dead_host_is_forgotten") else { return };
    let (judge, _reports) = FakeJudge::new();
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    drop(fixture.worker("north", &executor).await);
    let mut config = fixture.worker_config("north");
    config.installation = "another machine".to_owned();
    let second = FleetWorker::start(config, executor.clone());
    status_is(&second, WorkerStatus::Working).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_copies_of_an_installation_one_goes_on() {
    let Some(fixture) = Fixture::start("of_two_copies_of_an_installation_one_goes_on") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    let first = fixture.worker("north", &executor).await;
    let second = fixture.worker("north", &executor).await;
    status_is(&first, WorkerStatus::NameTaken).await;
    assert_eq!(*second.status().borrow(), WorkerStatus::Working);
    judge.add(fixture.task("fixer-1").await);
    reports.judged(&task_name("fixer-1")).await;
}
