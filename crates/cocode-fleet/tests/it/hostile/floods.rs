//! The memory of home while a host writes without end.

use std::process::Command;
use std::time::Duration;

use async_nats::jetstream;
use cocode_fleet::{FleetHome, Notice, Role};

use crate::fakes::FakeJudge;
use crate::fixture::{Fixture, task_name};

/// The address of the server, for a copy of these tests whose memory is measured.
const SERVER: &str = "COCODE_FLEET_TEST_SERVER";

/// The keys of the host, and the bytes of each.
const FLOOD: (usize, usize) = (1600, 125_000);

/// The most that home may use, in kibibytes: far less than all of the keys have.
const MOST_KIB: u64 = 130_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_of_no_task_are_not_held() {
    let test = "keys_of_no_task_are_not_held";
    if let Ok(url) = std::env::var(SERVER) {
        println!("\n{}", be_home(&url).await);
        return;
    }
    let Some(fixture) = Fixture::start(test) else { return };
    fixture.connect(Role::Home).await.prepare(&fixture.limits).await.unwrap();
    let context = jetstream::new(async_nats::connect(fixture.server.url()).await.unwrap());
    let value = bytes::Bytes::from(vec![b'x'; FLOOD.1]);
    for number in 0..FLOOD.0 {
        let key = format!("$KV.agentd_crew_runs.run1.flood-{number}");
        // Awaited now and then, so that the server keeps up.
        let stored = context.publish(key, value.clone()).await.unwrap();
        if number % 50 == 0 {
            stored.await.unwrap();
        }
    }
    let mut home = Command::new(std::env::current_exe().unwrap());
    home.args(["--exact", &format!("hostile::floods::{test}"), "--nocapture"]);
    let output = home.env(SERVER, fixture.server.url()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let used = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let used: u64 = used.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap();
    assert!(used < MOST_KIB, "{used} KiB");
}

/// Publishes a task during the flood, compares twice, and returns the line about the most memory that this process had.
async fn be_home(url: &str) -> String {
    let Some(fixture) = Fixture::start("keys_of_no_task_are_not_held") else { return String::new() };
    let (judge, mut reports) = FakeJudge::new();
    judge.add(fixture.task("fixer-1").await);
    let mut config = fixture.home_config();
    config.address.url = url.to_owned();
    config.timings.deadline = Duration::from_secs(20);
    let _home = FleetHome::start(config, judge.clone());
    let queued = |notice: &Notice| matches!(notice, Notice::Queued { .. }).then_some(());
    reports.notice(&task_name("fixer-1"), queued).await;
    // A task that comes later is published by a comparison.
    for number in 0..70 {
        judge.add(fixture.task(&format!("later-{number}")).await);
    }
    reports.notice(&task_name("later-0"), queued).await;
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned()
}
