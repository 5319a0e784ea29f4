//! A host writes its own keys and nothing else.

use std::time::Duration;

use cocode_fleet::{
    ConnectError, FleetAddress, FleetConnection, FleetHome, FleetWorker, Notice, Role, StopReason,
    WorkerConfig, WorkerStatus,
};

use crate::fakes::{FakeExecutor, FakeJudge, ready};
use crate::fixture::{name, task_name};
use crate::hostile::secured::Secured;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_with_keys_works() {
    let Some(secured) = Secured::start("a_fleet_with_keys_works") else { return };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(secured.fixture.task("fixer-1").await);
    let mut config = secured.fixture.home_config();
    config.address = secured.address(Role::Home);
    let _home = FleetHome::start(config, judge.clone());
    let mut config = secured.fixture.worker_config("north");
    config.address = secured.address(Role::Host(name("north")));
    let executor = FakeExecutor::ready("the commits");
    let worker = FleetWorker::start(config, executor);
    assert_eq!(reports.judged(&task_name("fixer-1")).await.2.unwrap(), b"the commits");
    let connection =
        FleetConnection::open(&secured.address(Role::Home), secured.fixture.timings).await.unwrap();
    // The report of the host is there, and draining reaches it.
    while connection.hosts().await.unwrap().is_empty() {}
    connection.drain_host(&name("north"), true).await.unwrap();
    while !connection.hosts().await.unwrap()[0].1.is_draining {}
    worker.stop().await;
    assert_eq!(connection.hosts().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_writes_only_what_is_its_own() {
    let Some(secured) = Secured::start("a_host_writes_only_what_is_its_own") else { return };
    let home = FleetConnection::open(&secured.address(Role::Home), secured.fixture.timings).await.unwrap();
    home.prepare(&secured.fixture.limits).await.unwrap();
    let mut north = secured.liar("north").await;
    let digest = "0".repeat(64);

    // The control: each of its own subjects is stored.
    for subject in [
        "$KV.agentd_crew_hosts.north".to_owned(),
        "$KV.agentd_crew_leases.north.run1.fixer-1".to_owned(),
        "$KV.agentd_crew_results.north.run1.fixer-1.2".to_owned(),
        "$KV.agentd_crew_runs.run1.fixer-1".to_owned(),
        "agentd.v1.crew.ev.north.run1.fixer-1".to_owned(),
        "agentd.v1.crew.dead.north.run1.fixer-1".to_owned(),
        format!("agentd.v1.crew.bundle.north.run1.fixer-1.2.{digest}.0"),
    ] {
        north.write(&subject, "{}").await;
    }
    for subject in [
        "$KV.agentd_crew_hosts.south".to_owned(),
        "$KV.agentd_crew_leases.south.run1.fixer-1".to_owned(),
        "$KV.agentd_crew_results.south.run1.fixer-1.2".to_owned(),
        "$KV.agentd_crew_control.drain.south".to_owned(),
        "$KV.agentd_crew_control.cancel.run1.fixer-1".to_owned(),
        "agentd.v1.crew.ev.south.run1.fixer-1".to_owned(),
        "agentd.v1.crew.dead.south.run1.fixer-1".to_owned(),
        "agentd.v1.crew.task.any.run1.fixer-2".to_owned(),
        format!("agentd.v1.crew.base.{digest}.0"),
        format!("agentd.v1.crew.bundle.south.run1.fixer-1.2.{digest}.0"),
        "agentd.v1.other.ev.north.run1.fixer-1".to_owned(),
        "$JS.API.STREAM.PURGE.agentd_crew_tasks".to_owned(),
        "$JS.API.STREAM.DELETE.agentd_crew_tasks".to_owned(),
        "$JS.API.STREAM.MSG.DELETE.KV_agentd_crew_runs".to_owned(),
        "$JS.API.STREAM.CREATE.mine".to_owned(),
        "$JS.API.STREAM.UPDATE.agentd_crew_tasks".to_owned(),
        "$JS.API.CONSUMER.CREATE.agentd_crew_bases".to_owned(),
        "$JS.API.CONSUMER.DURABLE.CREATE.agentd_crew_tasks.mine".to_owned(),
        "$JS.API.CONSUMER.DELETE.agentd_crew_tasks.any".to_owned(),
        "$JS.API.STREAM.MSG.GET.KV_agentd_crew_results".to_owned(),
        "$JS.API.STREAM.MSG.GET.agentd_crew_tasks".to_owned(),
        "$JS.API.DIRECT.GET.agentd_crew_bundles".to_owned(),
        format!(
            "$JS.API.DIRECT.GET.agentd_crew_bundles.agentd.v1.crew.bundle.south.run1.fixer-1.2.{digest}.0"
        ),
        "_INBOX.home.x".to_owned(),
        "_INBOX.host.south.x".to_owned(),
    ] {
        north.is_refused(&subject).await;
    }
    for subject in [">", "_INBOX.>", "_INBOX.home.>", "_INBOX.host.south.>", "agentd.v1.crew.task.>", "$JS.>"]
    {
        north.cannot_listen(subject).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollup_does_not_remove_the_keys_of_others() {
    let Some(secured) = Secured::start("a_rollup_does_not_remove_the_keys_of_others") else { return };
    let home = FleetConnection::open(&secured.address(Role::Home), secured.fixture.timings).await.unwrap();
    home.prepare(&secured.fixture.limits).await.unwrap();
    let (north, south) = (secured.liar("north").await, secured.liar("south").await);
    let report = br#"{"offer":{"slots":1},"protocol":[1,1]}"#;
    south.write("$KV.agentd_crew_hosts.south", report.as_slice()).await;
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Nats-Rollup", "all");
    let subject = "$KV.agentd_crew_hosts.north".to_owned();
    let publishing =
        north.context.publish_with_headers(subject, headers, report.as_slice().into()).await.unwrap();
    assert!(publishing.await.is_err());
    assert_eq!(home.hosts().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_and_missing_keys_are_said() {
    let Some(secured) = Secured::start("wrong_and_missing_keys_are_said") else { return };
    let open = async |seed: Option<String>| {
        let address = FleetAddress { seed, ..secured.fixture.address(Role::Home) };
        FleetConnection::open(&address, secured.fixture.timings).await.map(drop)
    };
    let (_, stranger) = cocode_fleet::UserKey::generate();
    for seed in [Some(stranger), None] {
        let error = open(seed).await.unwrap_err();
        assert!(matches!(error, ConnectError::Credentials { .. }), "{error:?}");
    }
    assert!(matches!(open(Some("SUX".to_owned())).await, Err(ConnectError::Seed)));
    let of_a_host = open(secured.address(Role::Host(name("north"))).seed).await.unwrap_err();
    assert!(matches!(of_a_host, ConnectError::OtherRole { role: Role::Home, .. }), "{of_a_host:?}");
    assert!(of_a_host.to_string().starts_with("the key is not that of home at "), "{of_a_host}");
    // The same for a host with the key of another one.
    let seed = secured.address(Role::Host(name("south"))).seed;
    let address = FleetAddress { seed, ..secured.fixture.address(Role::Host(name("north"))) };
    let error = FleetConnection::open(&address, secured.fixture.timings).await.map(drop).unwrap_err();
    assert!(error.to_string().starts_with("the key is not that of the host north at "), "{error:?}");
    // Its worker does not retry forever.
    let config = WorkerConfig { address, ..secured.fixture.worker_config("north") };
    let worker = FleetWorker::start(config, FakeExecutor::ready("the commits"));
    let mut status = worker.status();
    let refused = status.wait_for(|status| matches!(status, WorkerStatus::Refused(_)));
    let refused = tokio::time::timeout(Duration::from_secs(30), refused).await;
    let refused = refused.expect("it ends by itself").expect("its status is followed").clone();
    let WorkerStatus::Refused(why) = refused else { panic!("{refused:?}") };
    assert!(why.starts_with("the key is not that of the host north at "), "{why}");
    let seed = secured.address(Role::Home).seed;
    open(seed).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_with_a_key_hears_what_is_asked_of_it() {
    let test = "a_host_with_a_key_hears_what_is_asked_of_it";
    let Some(mut secured) = Secured::start(test) else { return };
    // Without the subscriptions it would learn of it after the test.
    let timings = &mut secured.fixture.timings;
    (timings.lease, timings.renew, timings.ack_wait) =
        (Duration::from_secs(900), Duration::from_secs(300), Duration::from_secs(900));
    let (judge, mut reports) = FakeJudge::new();
    judge.add(secured.fixture.task("fixer-1").await);
    let mut config = secured.fixture.home_config();
    config.address = secured.address(Role::Home);
    let _home = FleetHome::start(config, judge.clone());
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let (stopped, mut stops) = tokio::sync::mpsc::unbounded_channel();
    let executor = FakeExecutor::new(move |_, stop, _, _| {
        started.send(()).unwrap();
        stopped.send(stop.wait(Duration::from_secs(60))).unwrap();
        Ok(ready())
    });
    let mut config = secured.fixture.worker_config("north");
    config.address = secured.address(Role::Host(name("north")));
    let _worker = FleetWorker::start(config, executor);
    starts.recv().await.unwrap();
    let home = FleetConnection::open(&secured.address(Role::Home), secured.fixture.timings).await.unwrap();
    home.cancel_task(&task_name("fixer-1"), "g1").await.unwrap();
    assert_eq!(stops.recv().await.unwrap(), Some(StopReason::Cancelled));
    let cancelled = |notice: &Notice| matches!(notice, Notice::Cancelled).then_some(());
    reports.notice(&task_name("fixer-1"), cancelled).await;
    home.drain_host(&name("north"), true).await.unwrap();
    let draining = async { while !home.hosts().await.unwrap()[0].1.is_draining {} };
    tokio::time::timeout(Duration::from_secs(60), draining).await.unwrap();
}
