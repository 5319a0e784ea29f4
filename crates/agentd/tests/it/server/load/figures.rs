//! The calls of all clients together, and a table of them.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::fixture::project::Project;
use crate::server::load::worker::{SHARING, Work};

#[derive(Debug, Default)]
pub(super) struct Figures {
    work: Vec<Work>,
}

impl Figures {
    pub(super) fn add(&mut self, work: Work) {
        self.work.push(work);
    }

    pub(super) fn workers(&self) -> u64 {
        self.work.len() as u64
    }

    /// Compares the acknowledged changes with the files, and returns those that are missing or there twice.
    pub(super) fn lost(&self, project: &Project) -> Vec<String> {
        let mut lost = Vec::new();
        let log = if project.has("log.txt") { project.read("log.txt") } else { String::new() };
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for line in log.lines() {
            *counts.entry(line).or_default() += 1;
        }
        let appended: u64 = self.work.iter().map(|work| work.appended).sum();
        if log.lines().count() as u64 != appended {
            lost.push(format!("{} lines of {appended}", log.lines().count()));
        }
        for work in &self.work {
            for number in 0..work.appended {
                let line = format!("{} {number}", work.number);
                if counts.get(line.as_str()) != Some(&1) {
                    lost.push(format!("log: {line}"));
                }
            }
            let shared = project.read(&format!("shared/{}.txt", work.number / SHARING));
            let own = format!("client {} {}", work.number, work.counted);
            if shared.lines().filter(|line| *line == own).count() != 1 {
                lost.push(format!("shared: {own}"));
            }
        }
        lost
    }

    #[expect(clippy::print_stdout, reason = "the table is for a developer who runs this test alone")]
    pub(super) fn show(
        &self,
        connections: u64,
        took: Duration,
        early_kib: u64,
        late_kib: u64,
        lost: &[String],
    ) {
        let mut by_tool: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
        for (tool, time) in self.work.iter().flat_map(|work| &work.calls) {
            by_tool.entry(tool).or_default().push(*time);
        }
        let calls: usize = by_tool.values().map(Vec::len).sum();
        let updates: u64 = self.work.iter().map(|work| work.counted + work.appended).sum();
        println!("\n{:<18} {:>8} {:>9} {:>9} {:>9}", "tool", "calls", "p50 ms", "p99 ms", "most ms");
        for (tool, mut times) in by_tool {
            times.sort_unstable();
            let at = |share: usize| milliseconds(times[(times.len() - 1) * share / 100]);
            println!("{tool:<18} {:>8} {:>9.1} {:>9.1} {:>9.1}", times.len(), at(50), at(99), at(100));
        }
        println!(
            "{connections} connections for {:.0} s: {calls} calls ({:.0} a second), 0 failed; {updates} updates, {} lost",
            took.as_secs_f64(),
            calls as f64 / took.as_secs_f64(),
            lost.len()
        );
        println!("resident at most: {early_kib} KiB in the first half, {late_kib} KiB in the second");
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
