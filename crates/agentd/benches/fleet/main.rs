//! Measures a fleet of real processes, each host in its own network namespace: the time until an agent works, the rate of
//! submitting, the bytes that move, the throughput of several hosts; and what fleets cost commands that have nothing to do with them.
//!
//! `cargo xtask bench fleet` runs it. It needs root, `nats-server` and `openssl`. `FLEET_BENCH_WITHOUT` names a build without the
//! feature `fleet`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]
#![expect(dead_code, reason = "the long run uses more of the modules that both have")]

#[path = "../../tests/fleet_soak/cast.rs"]
mod cast;
#[path = "../../tests/fleet_soak/network.rs"]
mod network;
#[path = "../../tests/fleet_soak/relay.rs"]
mod relay;
mod run;
#[path = "../../tests/fleet_soak/server.rs"]
mod server;
#[path = "../../tests/fleet_soak/site.rs"]
mod site;
mod start;
#[path = "../../tests/fleet_soak/worker.rs"]
mod worker;

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;
use std::time::Duration;

use crate::network::Network;
use crate::run::Run;
use crate::server::Server;
use crate::site::Site;
use crate::worker::Worker;

const TURNS: usize = 15;
const HOSTS: [usize; 5] = [1, 2, 4, 8, 16];
const LEASE_SECONDS: u32 = 30;

/// The delay of the link in the second measurement of the dispatch, in each direction.
const LINK: Duration = Duration::from_millis(10);

fn main() {
    start::measure();
    assert!(rustix::process::geteuid().is_root(), "hosts have network namespaces, which needs root");
    let turns = number("TURNS", TURNS);
    let site = Site::make(LEASE_SECONDS);
    let network = Network::make(*HOSTS.last().unwrap());
    let server = Server::start(&site, &network);
    enqueue(&site, &network);
    // What was submitted is not waited for.
    let _ = fs::remove_dir_all(site.code().join(".agentd"));
    server.stop();
    let _ = fs::remove_dir_all(site.root.join("server/store"));
    let server = Server::start(&site, &network);
    let worker = Worker::start(&site, &network, 0);
    bytes(&site, &network);
    dispatch(&site, &network, turns, "");
    worker.stop();
    // The same over a slow link: what the distance costs.
    network.delay(0, LINK);
    let worker = Worker::start(&site, &network, 0);
    Run::fleet(&site, &network, "ready", 1, false);
    dispatch(&site, &network, turns, ", over a link that delays 10 ms in each direction");
    worker.stop();
    network.delay(0, Duration::ZERO);
    throughput(&site, &network);
    server.stop();
}

/// Returns a number of the environment, for shorter runs.
fn number(name: &str, usual: usize) -> usize {
    let text = std::env::var(format!("FLEET_BENCH_{name}")).ok();
    text.map_or(usual, |text| text.parse().unwrap())
}

/// From the first to the last message that the server has on its disk.
fn enqueue(site: &Site, network: &Network) {
    let count = number("ENQUEUED", 1_000);
    let run = Run::fleet(site, network, "ready", count, true);
    let took = run.last_queued.unwrap().saturating_sub(run.first_queued.unwrap()).as_secs_f64();
    let rate = (count - 1) as f64 / took;
    println!("\n{count} tasks submitted (server 2.9 syncs in intervals): {rate:.0} a second (goal: 200)");
    println!("  the whole command: {:.1} s", run.took.as_secs_f64());
}

/// The bytes over the link of a host for its first task and for the second one on the same base.
fn bytes(site: &Site, network: &Network) {
    let wire = || network.workers[0].bytes();
    // Incompressible, so that the repository has a size.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    fs::write(site.code().join("noise"), noise.take(20 << 20).collect::<Vec<u8>>()).unwrap();
    site.git(&site.code(), &["add", "noise"]);
    site.git(&site.code(), &["commit", "-q", "-m", "noise"]);
    let size = folder_bytes(&site.code().join(".git/objects"));
    let before = wire();
    Run::fleet(site, network, "ready", 1, false);
    let first = wire() - before;
    let before = wire();
    Run::fleet(site, network, "ready", 1, false);
    let second = wire() - before;
    let share = |bytes: u64| bytes as f64 * 100.0 / size as f64;
    println!("\nbytes over the link of a host, of a repository of {size} bytes");
    println!("  the first task on a base: {first} ({:.1} %)", share(first));
    println!("  the second: {second} ({:.2} %; goal: at most 1 %)", share(second));
}

/// From the command to the first line of the agent, here and on a host, in turns.
fn dispatch(site: &Site, network: &Network, turns: usize, how: &str) {
    let (mut here, mut there, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..turns {
        let alone = Run::alone(site, "ready").first_line.unwrap();
        let fleet = Run::fleet(site, network, "ready", 1, false).first_line.unwrap();
        here.push(alone);
        there.push(fleet);
        over.push(fleet.saturating_sub(alone));
    }
    println!("\nfrom `run` to the first line of an agent, {turns} turns{how}");
    show("on this machine", &mut here);
    show("by a host of a fleet", &mut there);
    show("above (goal: p50 50 ms, p99 250 ms)", &mut over);
}

/// Tasks a second with agents that take a second each, which the processors limit, and with ones that mostly wait, two at once on
/// each host. Ends with the plot.
fn throughput(site: &Site, network: &Network) {
    let cores = available_parallelism().map_or(1, usize::from);
    println!("\nthroughput on one machine of {cores} processors, two agents on each host at once");
    println!(
        "  | hosts | agents of | tasks | time | tasks a second |\n  | ---: | ---: | ---: | ---: | ---: |"
    );
    let kinds = [("slow", 1.0, 2), ("patient", 8.0, 2)];
    let mut lines: Vec<(String, Vec<(usize, f64)>)> =
        kinds.iter().map(|(_, seconds, _)| (format!("agents of {seconds} s"), Vec::new())).collect();
    for hosts in HOSTS {
        let workers: Vec<Worker> = (0..hosts).map(|number| Worker::start(site, network, number)).collect();
        // The first agents find the hosts connected, and with the base.
        Run::fleet(site, network, "ready", hosts * 2, false);
        for ((kind, seconds, rounds), (_, points)) in kinds.iter().zip(&mut lines) {
            let count = number("ROUNDS", *rounds) * 2 * hosts;
            let took = Run::fleet(site, network, kind, count, false).took.as_secs_f64();
            let rate = count as f64 / took;
            points.push((hosts, rate));
            println!("  | {hosts} | {seconds} s | {count} | {took:.1} s | {rate:.2} |");
        }
        workers.into_iter().for_each(Worker::stop);
    }
    let ideal = HOSTS.iter().map(|hosts| (*hosts, *hosts as f64 * 2.0 / kinds[1].1));
    lines.push(("8 s, no cost".to_owned(), ideal.collect()));
    let series: Vec<_> =
        lines.iter().map(|(name, points)| serde_json::json!({ "name": name, "points": points })).collect();
    let plot = serde_json::json!({
        "name": "fleet-throughput",
        "title": "Two agents at once on each host",
        "x": "hosts",
        "y": "tasks a second",
        "series": series,
    });
    println!("plot {plot}");
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "  {what:<44} p50 {:>7.1} ms, p99 {:>7.1}, least {:.1}, most {:.1}",
        at(50),
        at(99),
        at(0),
        at(100)
    );
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata().unwrap() {
        data if data.is_dir() => folder_bytes(&entry.path()),
        data => data.len(),
    };
    entries.map(size).sum()
}
