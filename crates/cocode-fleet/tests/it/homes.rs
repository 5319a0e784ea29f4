//! Home away and back, several homes, and everything failing at once.

use std::collections::BTreeMap;
use std::time::Duration;

use cocode_fleet::{FleetWorker, JudgeError, Role};

use crate::fakes::{FakeExecutor, FakeJudge, Report, ready};
use crate::fixture::{Fixture, task_name};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_while_home_was_away_is_judged_afterwards() {
    let Some(fixture) = Fixture::start("what_was_done_while_home_was_away_is_judged_afterwards") else {
        return;
    };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let home = fixture.home(&judge);
    let queued =
        |notice: &cocode_fleet::Notice| matches!(notice, cocode_fleet::Notice::Queued { .. }).then_some(());
    reports.notice(&task_name("fixer-1"), queued).await;
    drop(home);
    let executor = FakeExecutor::ready("the commits");
    let worker = fixture.worker("north", &executor).await;
    let connection = fixture.connect(Role::Home).await;
    while connection.waiting_tasks().await.unwrap() > 0 {}
    worker.stop().await;
    assert_eq!(judge.unresolved_count(), 1);
    let _home = fixture.home(&judge);
    assert_eq!(reports.judged(&task_name("fixer-1")).await.1, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_homes_judge_their_own_tasks() {
    let Some(fixture) = Fixture::start("two_homes_judge_their_own_tasks") else { return };
    let (one, mut one_reports) = FakeJudge::new();
    let (other, mut other_reports) = FakeJudge::new();
    one.add(fixture.task("one").await);
    other.add(fixture.task("other").await);
    let _homes = (fixture.home(&one), fixture.home(&other));
    let executor = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("north", &executor).await;
    one_reports.judged(&task_name("one")).await;
    other_reports.judged(&task_name("other")).await;
    let is_foreign = |report: &Report| matches!(report, Report::Judged { .. } | Report::Ended(..));
    assert!(!one_reports.rest().iter().chain(&other_reports.rest()).any(is_foreign));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_that_fails_judges_again() {
    let Some(fixture) = Fixture::start("a_home_that_fails_judges_again") else { return };
    let failures = std::sync::atomic::AtomicUsize::new(0);
    let (judge, mut reports) =
        FakeJudge::with_verdict(move |_| match failures.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Err(JudgeError::Failed("the disk is full".to_owned())),
            1 => panic!("this panic is a part of the test"),
            _ => Ok(()),
        });
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    let _worker = fixture.worker("north", &executor).await;
    // The same start of the same host: home's failure is not the host's.
    assert_eq!(reports.judged(&task_name("fixer-1")).await.1, 2);
}

/// Workers, home and server are killed while 40 tasks run. None is lost, and none is judged twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_nothing_is_judged_twice() {
    let Some(mut fixture) = Fixture::start("nothing_is_lost_and_nothing_is_judged_twice") else { return };
    let (judge, mut reports) = FakeJudge::new();
    let total = 40;
    for number in 0..total {
        let mut submitted = fixture.task(&format!("agent-{number}")).await;
        submitted.task.attempts = 20;
        judge.add(submitted);
    }
    let executor = FakeExecutor::new(|task, stop, events, result| {
        events.log_line("working");
        let _ = stop.wait(Duration::from_millis(100));
        std::fs::write(result, format!("commits of {}", task.name)).unwrap();
        Ok(ready())
    });
    let start = |fixture: &Fixture, number: usize| {
        FleetWorker::start(fixture.worker_config(&format!("host-{number}")), executor.clone())
    };
    let mut home = fixture.home(&judge);
    let mut workers: Vec<FleetWorker> = (0..3).map(|number| start(&fixture, number)).collect();
    let mut judged = BTreeMap::new();
    // A fixed order of failures, each after a few more judgements.
    let mut failures = [0, 1, 2, 0, 3, 1, 0, 2].into_iter().enumerate();
    while judged.len() < total {
        let (name, bundle) = reports
            .wait(|report| match report {
                Report::Judged { name, bundle, .. } => Some((name.clone(), bundle.clone())),
                Report::Ended(..) => panic!("{report:?}"),
                _ => None,
            })
            .await;
        assert_eq!(bundle.unwrap(), format!("commits of {name}").into_bytes());
        assert!(judged.insert(name, ()).is_none(), "judged twice");
        if judged.len() % 4 == 0 {
            match failures.next() {
                Some((turn, 0)) => workers[turn % 3] = start(&fixture, 10 + turn),
                Some((_, 1)) => {
                    drop(home);
                    home = fixture.home(&judge);
                }
                Some((_, 2)) => {
                    fixture.server.kill();
                    fixture.server.start_again();
                }
                Some(_) => {
                    fixture.server.kill();
                    fixture.server.delete_store();
                    fixture.server.start_again();
                }
                None => {}
            }
        }
    }
    assert_eq!(judge.unresolved_count(), 0);
    drop((home, workers));
}
