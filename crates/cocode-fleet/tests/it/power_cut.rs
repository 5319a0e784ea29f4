//! A power cut of the server: it starts with the files of its last sync, which is some time ago.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cocode_fleet::Notice;

use crate::fakes::{FakeExecutor, FakeJudge, Report, ready};
use crate::fixture::{Fixture, name, task_name};

/// The agents that may end, by their names.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<BTreeSet<String>>>);

impl Gate {
    fn open(&self, agents: &[&str]) {
        self.0.lock().unwrap().extend(agents.iter().map(|agent| (*agent).to_owned()));
    }
}

/// An executor with room for all agents, each of which ends when the gate is open for it; and the number of those that have started.
fn held() -> (Arc<FakeExecutor>, Arc<AtomicUsize>, Gate) {
    let (started, gate) = (Arc::new(AtomicUsize::new(0)), Gate::default());
    let (count, open) = (Arc::clone(&started), gate.clone());
    let executor = FakeExecutor::new(move |task, stop, events, result| {
        count.fetch_add(1, Ordering::SeqCst);
        while !open.0.lock().unwrap().contains(task.name.agent.as_str()) {
            if stop.wait(Duration::from_millis(10)).is_some() {
                break;
            }
        }
        events.log_line("working");
        std::fs::write(result, format!("commits of {}", task.name)).unwrap();
        Ok(ready())
    });
    executor.offer.lock().unwrap().slots = 8;
    (executor, started, gate)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_means_redo_and_neither_loss_nor_a_second_judgement() {
    let test = "a_power_cut_means_redo_and_neither_loss_nor_a_second_judgement";
    let Some(mut fixture) = Fixture::start(test) else { return };
    let (judge, mut reports) = FakeJudge::new();
    let agents = ["a", "b", "c", "d", "e", "f"];
    let (early, late) = agents.split_at(4);
    for agent in early {
        judge.add(fixture.task(agent).await);
    }
    let mut home = fixture.home(&judge);
    let (executor, _, gate) = held();
    for _ in early {
        reports.wait(|report| matches!(report, Report::Notice(_, Notice::Queued { .. })).then_some(())).await;
    }
    // What the disk has: four tasks in the queue, of which nothing has been started.
    let synced = fixture.server.copy_of_store();
    for agent in late {
        judge.add(fixture.task(agent).await);
    }
    home.journal_changed();
    gate.open(&["a", "b"]);
    let worker = fixture.worker("north", &executor).await;
    let mut judged = BTreeMap::new();
    let wait_for = async |count: usize,
                          judged: &mut BTreeMap<_, u64>,
                          reports: &mut crate::fakes::Reports| {
        while judged.len() < count {
            let report = reports.wait(|report| match report {
                Report::Judged { name, bundle, epoch, .. } => Some((name.clone(), bundle.clone(), *epoch)),
                Report::Ended(..) => panic!("{report:?}"),
                _ => None,
            });
            let (name, bundle, epoch) = report.await;
            assert_eq!(bundle.unwrap(), format!("commits of {name}").into_bytes());
            assert!(judged.insert(name, epoch).is_none(), "judged twice");
        }
    };
    wait_for(2, &mut judged, &mut reports).await;
    // Two are judged, and four run; the server forgets all of it.
    fixture.server.kill();
    fixture.server.restore(&synced);
    fixture.server.start_again();
    gate.open(&["c"]);
    wait_for(3, &mut judged, &mut reports).await;
    // Home, too, and the host: what is known of epochs is in the journal alone.
    drop(home);
    drop(worker);
    fixture.server.kill();
    fixture.server.restore(&synced);
    fixture.server.start_again();
    home = fixture.home(&judge);
    gate.open(&agents);
    let _worker = fixture.worker("south", &executor).await;
    wait_for(agents.len(), &mut judged, &mut reports).await;
    assert_eq!(judge.unresolved_count(), 0);
    drop(home);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_host_had_before_a_power_cut_is_late_afterwards() {
    let test = "what_a_host_had_before_a_power_cut_is_late_afterwards";
    let Some(mut fixture) = Fixture::start(test) else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let home = fixture.home(&judge);
    let task = task_name("fixer-1");
    reports.notice(&task, |notice| matches!(notice, Notice::Queued { .. }).then_some(())).await;
    let synced = fixture.server.copy_of_store();
    let (executor, started, gate) = held();
    let _worker = fixture.worker("north", &executor).await;
    let epoch = |notice: &Notice| match notice {
        Notice::Running { epoch, .. } => Some(*epoch),
        _ => None,
    };
    let before = reports.notice(&task, epoch).await;
    while started.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    fixture.server.kill();
    fixture.server.restore(&synced);
    fixture.server.start_again();
    // Home continues above what it has noted, so nothing that was before can be taken for what comes.
    let again = |notice: &Notice| match notice {
        Notice::PublishedAgain { epoch } => Some(*epoch),
        _ => None,
    };
    let published = reports.notice(&task, again).await;
    assert!(published > before, "{published} after {before}");
    gate.open(&["fixer-1"]);
    let (host, epoch, bundle) = reports.judged(&task).await;
    assert_eq!((host, bundle.unwrap()), (name("north"), b"commits of run1/fixer-1".to_vec()));
    assert!(epoch > published, "{epoch} after {published}");
    assert!(started.load(Ordering::SeqCst) >= 2, "it was done again");
    assert_eq!(judge.unresolved_count(), 0);
    drop(home);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_that_comes_back_to_an_empty_server_continues_its_epochs() {
    let test = "a_home_that_comes_back_to_an_empty_server_continues_its_epochs";
    let Some(mut fixture) = Fixture::start(test) else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let home = fixture.home(&judge);
    let (executor, _, gate) = held();
    let worker = fixture.worker("north", &executor).await;
    let task = task_name("fixer-1");
    let running = |notice: &Notice| match notice {
        Notice::Running { epoch, .. } => Some(*epoch),
        _ => None,
    };
    let before = reports.notice(&task, running).await;
    drop((home, worker));
    fixture.server.kill();
    fixture.server.delete_store();
    fixture.server.start_again();
    gate.open(&["fixer-1"]);
    let _home = fixture.home(&judge);
    let _worker = fixture.worker("south", &executor).await;
    let (_, epoch, _) = reports.judged(&task).await;
    assert!(epoch > before + 1, "{epoch} after {before}");
}
