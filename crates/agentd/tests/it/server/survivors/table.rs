//! The table of all rounds.

use std::collections::BTreeMap;
use std::time::Duration;

use super::round::{Finding, VICTIMS, Victim, Work};

/// The findings of all rounds, by the kind of work and the victim.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<(Work, Victim), Vec<Finding>>,
}

impl Table {
    pub(super) fn add(&mut self, work: Work, victim: Victim, finding: Finding) {
        self.rows.entry((work, victim)).or_default().push(finding);
    }

    pub(super) fn rounds(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    /// Returns the number of kills at which processes of the command ran.
    pub(super) fn kills_at_work(&self) -> usize {
        self.rows.values().flatten().filter(|finding| finding.killed_among > 0).count()
    }

    #[expect(clippy::print_stdout, reason = "the table is for a developer who runs this test alone")]
    pub(super) fn show(&self) {
        let mut works: Vec<Work> = self.rows.keys().map(|(work, _)| *work).collect();
        works.dedup();
        println!(
            "{:<18} {:<11} {:<16} {:>6} {:>7} {:>9} {:>9}",
            "work", "as", "killed", "rounds", "at work", "processes", "last gone"
        );
        for work in works {
            for victim in VICTIMS {
                let Some(finding) = self.rows.get(&(work, victim)) else { continue };
                let kind = if work.is_background { "background" } else { "command" };
                let at_work = finding.iter().filter(|finding| finding.killed_among > 0).count();
                let processes: usize = finding.iter().map(|finding| finding.killed_among).sum();
                let last = finding.iter().map(|finding| finding.gone_after).max().unwrap_or(Duration::ZERO);
                println!(
                    "{:<18} {kind:<11} {:<16} {:>6} {at_work:>7} {processes:>9} {:>6} ms",
                    work.name,
                    format!("{victim:?}"),
                    finding.len(),
                    last.as_millis()
                );
            }
        }
        println!(
            "{} rounds, {} of them with processes at work, no survivor",
            self.rounds(),
            self.kills_at_work()
        );
    }
}
