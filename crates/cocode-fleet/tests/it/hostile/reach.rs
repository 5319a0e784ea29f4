//! The reach of a host's requests. The server sends an answer to whatever subject a request names.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, jetstream};
use cocode_fleet::{FleetConnection, Role};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::fixture::Fixture;
use crate::hostile::secured::Secured;

/// A subject that a host may publish to, and that home hears.
const MARK: &str = "agentd.v1.crew.ev.south.run1.fixer-1";

/// Requests that a host may make, each with a body.
const REQUESTS: [(&str, &str); 5] = [
    ("$JS.API.INFO", ""),
    ("$JS.API.STREAM.MSG.GET.KV_agentd_crew_hosts", "{\"last_by_subj\":\"$KV.agentd_crew_hosts.x\"}"),
    ("$JS.API.CONSUMER.MSG.NEXT.agentd_crew_tasks.any", "{\"batch\":1,\"no_wait\":true}"),
    ("$KV.agentd_crew_leases.south.run1.fixer-1", "1"),
    // Last, since its answer is empty, and has streams deleted.
    ("$JS.API.DIRECT.GET.agentd_crew_bases.agentd.v1.crew.base.x", ""),
];

/// Subjects that are not the host's.
const TARGETS: [&str; 14] = [
    "$KV.agentd_crew_hosts.north",
    "$KV.agentd_crew_leases.north.run1.fixer-1",
    "$KV.agentd_crew_results.north.run1.fixer-1.2",
    "$KV.agentd_crew_control.drain.north",
    "$KV.agentd_crew_control.cancel.run1.fixer-1",
    "agentd.v1.crew.task.any.run1.fixer-9",
    "agentd.v1.crew.base.0.0",
    "agentd.v1.crew.ev.north.run1.fixer-1",
    "agentd.v1.crew.dead.north.run1.fixer-1",
    "agentd.v1.crew.bundle.north.run1.fixer-1.2.0.0",
    "_INBOX.home.x",
    "$JS.API.CONSUMER.DELETE.agentd_crew_tasks.any",
    "$JS.API.STREAM.PURGE.KV_agentd_crew_runs",
    "$JS.API.STREAM.DELETE.agentd_crew_dead",
];

/// Has a host make every request in the name of every target; returns the targets that were reached.
async fn reached(host: &Client, home: &Client) -> BTreeSet<String> {
    let mut messages = home.subscribe(">").await.unwrap();
    home.flush().await.unwrap();
    for (request, body) in REQUESTS {
        for target in TARGETS {
            host.publish_with_reply(request, target, body.into()).await.unwrap();
        }
        // Answered after the others.
        let _ = timeout(Duration::from_secs(10), host.request(request, body.into())).await;
    }
    host.publish(MARK, "".into()).await.unwrap();
    let mut subjects = BTreeSet::new();
    let collecting = async {
        while let Some(message) = messages.next().await {
            match message.subject.as_str() {
                MARK => break,
                subject => drop(subjects.insert(subject.to_owned())),
            }
        }
    };
    timeout(Duration::from_secs(60), collecting).await.unwrap();
    subjects.into_iter().filter(|subject| TARGETS.contains(&subject.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_of_the_server_reaches_what_is_not_the_hosts() {
    let test = "no_answer_of_the_server_reaches_what_is_not_the_hosts";
    let Some(secured) = Secured::start(test) else { return };
    let home = secured.address(Role::Home);
    let connection = FleetConnection::open(&home, secured.fixture.timings).await.unwrap();
    connection.prepare(&secured.fixture.limits).await.unwrap();
    let south = secured.liar("south").await;
    let raw = ConnectOptions::with_nkey(home.seed.unwrap()).connect(home.url).await.unwrap();
    assert_eq!(reached(&south.client, &raw).await, BTreeSet::new());
    jetstream::new(raw).get_stream("agentd_crew_dead").await.unwrap();

    // The control: in one account with home, the same requests reach all of it.
    let Some(fixture) = Fixture::start(test) else { return };
    fixture.connect(Role::Home).await.prepare(&fixture.limits).await.unwrap();
    let [host, raw] = [async_nats::connect(fixture.server.url()), async_nats::connect(fixture.server.url())];
    let (host, raw) = (host.await.unwrap(), raw.await.unwrap());
    assert_eq!(reached(&host, &raw).await, TARGETS.map(str::to_owned).into());
    assert!(jetstream::new(raw).get_stream("agentd_crew_dead").await.is_err());
}
