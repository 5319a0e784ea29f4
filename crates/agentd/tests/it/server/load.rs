//! Many connections at once for a while: nothing fails, nothing is lost, and the server does not grow.
//!
//! `LOAD_SECONDS` and `LOAD_CONNECTIONS` say for how long and how many; `cargo xtask soak serve` sets them and shows the table.

mod connection;
mod figures;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::fixture::memory::own_kib;
use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;
use crate::server::load::figures::Figures;
use crate::server::load::worker::{SHARING, Worker};

/// The most growth of the server in the second half of the time, in KiB.
const MOST_GROWTH_KIB: u64 = 16 * 1024;

/// The most memory of the server, in KiB, for any number of connections in these tests.
const MOST_RESIDENT_KIB: u64 = 192 * 1024;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The files that the workers read, search and share.
fn project(connections: u64) -> Project {
    let project = Project::new();
    for file in 0..50 {
        let lines: String = (1..=200).map(|line| format!("line {line} of file {file}\n")).collect();
        project.write(&format!("src/f{file:02}.txt"), &lines);
    }
    for group in 0..connections.div_ceil(SHARING) {
        let members = group * SHARING..connections.min((group + 1) * SHARING);
        let lines: String = members.map(|number| format!("client {number} 0\n")).collect();
        project.write(&format!("shared/{group}.txt"), &lines);
    }
    project
}

#[test]
fn two_hundred_connections_for_a_while_lose_nothing() {
    let connections = number("LOAD_CONNECTIONS", 200);
    let time = Duration::from_secs(number("LOAD_SECONDS", 10));
    let project = project(connections);
    let mut server = WebServer::start(&project, &[]);
    let is_over = AtomicBool::new(false);
    let began = Instant::now();
    let (figures, resident) = thread::scope(|scope| {
        let workers: Vec<_> = (0..connections)
            .map(|number| {
                let (server, is_over) = (&server, &is_over);
                scope.spawn(move || Worker::connect(server, number).work(is_over))
            })
            .collect();
        let mut resident = Vec::new();
        while began.elapsed() < time {
            thread::sleep(Duration::from_millis(100));
            resident.push(own_kib(server.process_id()));
        }
        is_over.store(true, Ordering::Relaxed);
        let mut figures = Figures::default();
        for worker in workers {
            // A call that failed has ended its worker with what it was.
            figures.add(worker.join().unwrap());
        }
        (figures, resident)
    });
    let took = began.elapsed();
    let [early, late] = [&resident[..resident.len() / 2], &resident[resident.len() / 2..]]
        .map(|half| half.iter().copied().max().unwrap());
    let lost = figures.lost(&project);
    figures.show(connections, took, early, late, &lost);
    assert_eq!(figures.workers(), connections);
    assert!(lost.is_empty(), "{lost:?}");
    assert!(late < MOST_RESIDENT_KIB, "{late} KiB");
    assert!(late < early + MOST_GROWTH_KIB, "from {early} KiB to {late} KiB");
    let metrics = server.get("/metrics").has_status(200).text();
    assert!(metrics.contains("agentd_running_calls 0\n"), "{metrics}");
    assert_eq!(server.interrupt(), 130);
    // The control: what is taken away is missed.
    let log = project.read("log.txt");
    project.write("log.txt", log.split_once('\n').unwrap().1);
    project.write("shared/0.txt", &project.read("shared/0.txt").replacen("client 0 ", "client 0 1", 1));
    assert_eq!(figures.lost(&project).len(), 3, "{:?}", figures.lost(&project));
}
