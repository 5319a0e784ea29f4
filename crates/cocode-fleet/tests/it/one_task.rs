//! One task from the journal to its judgement.

use cocode_fleet::{ClaimedState, Notice, Role, RunState};

use crate::fakes::{FakeExecutor, FakeJudge, Report};
use crate::fixture::{Fixture, name, task_name};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_done_and_judged() {
    let Some(fixture) = Fixture::start("a_task_is_done_and_judged") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let _home = fixture.home(&judge);
    let executor = FakeExecutor::ready("the commits");
    let worker = fixture.worker("north", &executor).await;

    let task = task_name("fixer-1");
    let mut lines = Vec::new();
    let judged = reports
        .wait(|report| match report {
            Report::Lines(name, host, more, 0) => {
                assert_eq!((name, host.as_str()), (&task, "north"));
                lines.extend(more.clone());
                None
            }
            Report::Judged { name, host, epoch, claim, bundle } if *name == task => {
                Some((host.clone(), *epoch, claim.clone(), bundle.clone()))
            }
            _ => None,
        })
        .await;
    // Epoch 1 is the publication, and 2 the start.
    assert_eq!((judged.0, judged.1), (name("north"), 2));
    assert_eq!(lines, ["working on issue 5"]);
    assert_eq!(judged.2.state, ClaimedState::Ready);
    assert_eq!(judged.3.unwrap(), b"the commits");
    assert_eq!(judge.unresolved_count(), 0);

    // Nothing is left in the queue, and the record says so.
    let connection = fixture.connect(Role::Home).await;
    let records = connection.records().await.unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].1.state, records[0].1.epoch), (RunState::Done, 2));
    worker.stop().await;
    assert_eq!(connection.waiting_tasks().await.unwrap(), 0);
    assert_eq!(connection.hosts().await.unwrap(), []);
    let others = reports.rest();
    let is_again = |report: &Report| matches!(report, Report::Notice(_, Notice::PublishedAgain { .. }));
    assert!(!others.iter().any(is_again), "{others:?}");
}
