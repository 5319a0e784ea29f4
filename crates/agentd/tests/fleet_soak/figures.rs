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
    /// Servers whose starter was killed, and that the next one adopted.
    pub(crate) adopted: usize,
    pub(crate) syncs: usize,
    pub(crate) power_cuts: usize,
    pub(crate) slow: usize,
    pub(crate) cuts: usize,
    pub(crate) cut_for: Duration,
    /// Tasks that three hosts were lost with, and that were given out again by `fleet retry`.
    pub(crate) retries: usize,
    pub(crate) late: usize,
    pub(crate) not_believed: usize,
    /// The reasons for that, without names and numbers, and how often each was given.
    pub(crate) reasons: BTreeMap<String, usize>,
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
        if let Some((_, reason)) = text.split_once("given out again: ") {
            let is_name = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
            let words: Vec<&str> = reason.split(' ').filter(|word| !is_name(word)).collect();
            *self.reasons.entry(words.join(" ")).or_default() += 1;
        }
    }

    /// Says how far a run is.
    #[expect(clippy::print_stdout, reason = "progress of a long run that was requested")]
    pub(crate) fn progress(&self, time: Duration, ends: (usize, usize), events: (usize, usize)) {
        println!(
            "{:>5.0} s: {} of {} tasks have ended, {} of {} events were: {} kills, {} links cut, {} slow, {} power cuts",
            time.as_secs_f64(),
            ends.0,
            ends.1,
            events.0,
            events.1,
            self.killed_workers + self.killed_servers + self.killed_submitters + self.adopted,
            self.cuts,
            self.slow,
            self.power_cuts,
        );
    }

    /// Prints the table of `docs/benchmarks.md`.
    #[expect(clippy::print_stdout, reason = "figures of a long run that was requested")]
    pub(crate) fn print(&self, plan: &Plan) {
        let states = self.states.iter().map(|(state, count)| format!("{count} {state}"));
        let kills = self.killed_workers + self.killed_servers + self.killed_submitters + self.adopted;
        let twice = self.problems.iter().filter(|problem| problem.contains("was judged")).count();
        let fsck = if self.fsck.trim().is_empty() { "clean".to_owned() } else { self.fsck.trim().to_owned() };
        let (minutes, cut_for) = (self.took.as_secs_f64() / 60.0, self.cut_for.as_secs_f64());
        let latency = plan.latency.as_secs_f64() * 1e3;
        let rows = [
            ("tasks", self.states.values().sum::<usize>().to_string(), "1,000"),
            ("hosts", plan.workers.to_string(), "20"),
            ("seed", plan.seed.to_string(), ""),
            ("time", format!("{minutes:.1} min"), "60 min"),
            (
                "killed: hosts, server, starter of the server, submitter",
                format!(
                    "{kills}: {}, {}, {}, {}",
                    self.killed_workers, self.killed_servers, self.adopted, self.killed_submitters
                ),
                "200",
            ),
            ("links cut", format!("{}, for {cut_for:.0} s together", self.cuts), "20"),
            (
                "delay of links, in each direction",
                format!("0 to {latency:.0} ms, {} times 500 ms", self.slow),
                "",
            ),
            (
                "power cuts of the server",
                format!("{}, back to one of {} syncs", self.power_cuts, self.syncs),
                "1",
            ),
            (
                "started more than once",
                format!("{}, at most {} times", self.started_again, self.most_starts),
                "",
            ),
            ("given up after three hosts, and retried", self.retries.to_string(), ""),
            ("late work that was not used", self.late.to_string(), ""),
            ("queued again by home", self.queued_again.to_string(), ""),
            ("starts that a host could not make", self.failed_attempts.to_string(), ""),
            ("deliveries not believed", self.not_believed.to_string(), ""),
            ("bytes over the links of hosts", format!("{:.1} MB", self.link_bytes as f64 / 1e6), ""),
            ("ends", states.collect::<Vec<_>>().join(", "), ""),
            ("lost", self.lost.to_string(), "0"),
            ("judged twice", twice.to_string(), "0"),
            ("verdicts other than on one machine", self.other_verdicts.to_string(), "0"),
            ("`git fsck --strict` at home", fsck, "clean"),
        ];
        println!("\n| soak fleet | figure | goal |\n| --- | ---: | ---: |");
        for (name, value, goal) in rows {
            println!("| {name} | {value} | {goal} |");
        }
        for (reason, count) in &self.reasons {
            println!("not believed, {count} times: {reason}");
        }
    }
}
