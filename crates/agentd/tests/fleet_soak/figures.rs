//! The figures of a run, and their table.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::Plan;

#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) took: Duration,
    pub(crate) killed_workers: usize,
    pub(crate) killed_servers: usize,
    pub(crate) killed_submitters: usize,
    pub(crate) cuts: usize,
    pub(crate) cut_for: Duration,
    /// Tasks that three hosts were lost with, and that were given out again by `fleet retry`.
    pub(crate) retries: usize,
    pub(crate) late: usize,
    pub(crate) not_believed: usize,
    pub(crate) queued_again: usize,
    pub(crate) failed_attempts: usize,
    pub(crate) started_again: usize,
    pub(crate) most_starts: u64,
    /// Over the links of all hosts, in both directions.
    pub(crate) link_bytes: u64,
    pub(crate) lost: usize,
    pub(crate) other_verdicts: usize,
    pub(crate) states: BTreeMap<String, usize>,
    pub(crate) fsck: String,
    /// The numbers of the network namespaces.
    pub(crate) namespaces: Vec<u64>,
    pub(crate) problems: Vec<String>,
}

impl Figures {
    /// Counts what the submitter has said about a task.
    pub(crate) fn count_said(&mut self, text: &str) {
        let counters = [
            ("was late", &mut self.late),
            ("was not believed", &mut self.not_believed),
            ("the server has lost it", &mut self.queued_again),
            ("could not be run", &mut self.failed_attempts),
        ];
        for (words, counter) in counters {
            *counter += usize::from(text.contains(words));
        }
    }

    #[expect(clippy::print_stderr, reason = "figures of a long run that was requested")]
    pub(crate) fn print(&self, plan: &Plan) {
        let states = self.states.iter().map(|(state, count)| format!("{count} {state}"));
        let rows = [
            (
                "tasks, hosts, seed",
                format!("{}, {}, {}", self.states.values().sum::<usize>(), plan.workers, plan.seed),
            ),
            ("time", format!("{:.0} s", self.took.as_secs_f64())),
            (
                "SIGKILL: hosts, server, submitter",
                format!("{}, {}, {}", self.killed_workers, self.killed_servers, self.killed_submitters),
            ),
            ("links cut", format!("{}, for {:.0} s together", self.cuts, self.cut_for.as_secs_f64())),
            (
                "tasks that were started more than once",
                format!("{}, at most {} times", self.started_again, self.most_starts),
            ),
            ("given up after three hosts, and retried", self.retries.to_string()),
            ("late work that was not used", self.late.to_string()),
            ("queued again by home", self.queued_again.to_string()),
            ("starts that a host could not make", self.failed_attempts.to_string()),
            ("hosts that were not believed", self.not_believed.to_string()),
            ("bytes over the links of hosts", format!("{:.1} MB", self.link_bytes as f64 / 1e6)),
            ("ends", states.collect::<Vec<_>>().join(", ")),
            ("lost", self.lost.to_string()),
            ("verdicts other than on one machine", self.other_verdicts.to_string()),
            (
                "git fsck --strict",
                if self.fsck.trim().is_empty() { "clean".into() } else { self.fsck.clone() },
            ),
            ("problems", self.problems.len().to_string()),
        ];
        eprintln!("\n| soak fleet | |\n| --- | --- |");
        for (name, value) in rows {
            eprintln!("| {name} | {value} |");
        }
    }
}
