//! A fleet of real processes under disorder: hosts, server and submitter are killed at random moments, links are cut and delayed,
//! the server's power is cut, and at the end every task has been resolved once, with the verdict that it has on one machine. The
//! lines of the guide are run among the ordinary tests, with the same namespaces.
//!
//! `cargo xtask soak fleet` runs it, and sets `FLEET_SOAK_TASKS`, `_WORKERS`, `_KILLS`, `_PARTITIONS`,
//! `_DELAYS`, `_POWER_CUTS`, `_LATENCY_MS` and `_SEED`. Each host has a
//! separate network namespace, which needs root.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cast;
mod checks;
mod disorder;
mod figures;
mod network;
mod plan;
mod random;
mod recipe;
mod relay;
mod server;
mod site;
mod soak;
mod submitter;
mod worker;

use crate::plan::Plan;

#[test]
#[ignore = "it takes minutes and needs root; `cargo xtask soak fleet` runs it"]
fn a_fleet_under_disorder_resolves_every_task_once_and_as_on_one_machine() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this makes network namespaces, one for each host, and needs root"
    );
    soak::run(&Plan::of_environment());
}

#[test]
fn a_seed_gives_the_same_disorder_again() {
    let latency = std::time::Duration::from_millis(5);
    let plan = Plan {
        tasks: 100,
        workers: 5,
        kills: 40,
        partitions: 10,
        delays: 3,
        power_cuts: 2,
        latency,
        seed: 7,
    };
    let first = disorder::draw(&plan);
    assert_eq!(first, disorder::draw(&plan));
    assert_ne!(first, disorder::draw(&Plan { seed: 8, ..plan }));
    let cuts = first.iter().filter(|event| matches!(event.what, disorder::What::Cut { .. })).count();
    assert_eq!((cuts, first.len()), (10, 55));
    assert_eq!(disorder::latencies(&plan), disorder::latencies(&plan));
}
