//! The table of what became of many trials.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::io::Write as _;

use super::aftermath::Finding;
use super::call_name::CallName;
use super::cycle::{Cycle, Trial};
use super::tracer::{Ended, Fault, Injection};
use super::trials::carry_out;

/// The number of trials at one time: a trial mostly waits.
pub(crate) const WORKERS: usize = 4;

/// The number of differences that are reported in full.
const MOST_REPORTED: usize = 60;

/// The results of the faults at the calls of one name.
#[derive(Debug, Default)]
struct Row {
    injected: BTreeMap<Fault, u32>,
    findings: BTreeMap<Finding, u32>,
    /// The ends of the disturbed runs: killed by the fault, by itself with a message, in a crash of its own, killed because
    /// it would not end, done.
    killed: u32,
    refused: u32,
    crashed: u32,
    hung: u32,
    done: u32,
    different: u32,
}

/// The results of all faults.
#[derive(Debug, Default)]
pub(crate) struct Table {
    counts: BTreeMap<CallName, u32>,
    rows: BTreeMap<CallName, Row>,
    pub(crate) differences: Vec<String>,
}

impl Table {
    /// Tries each of the injections, some at a time.
    pub(crate) fn fill(cycle: &Cycle, injections: Vec<Injection>) -> Table {
        let mut table = Table::new(cycle);
        carry_out(cycle, injections, WORKERS, None, |injection, trial| {
            table.add(injection, trial);
            None
        });
        table
    }

    /// Returns a table without results.
    pub(crate) fn new(cycle: &Cycle) -> Table {
        Table { counts: cycle.counts.clone(), ..Table::default() }
    }

    pub(crate) fn add(&mut self, injection: Injection, trial: Trial) {
        let row = self.rows.entry(injection.name).or_default();
        if trial.is_injected {
            *row.injected.entry(injection.fault).or_default() += 1;
            match trial.ended {
                Ended::Signal(_) if injection.fault == Fault::Kill => row.killed += 1,
                Ended::Exit(0) => row.done += 1,
                Ended::Exit(101) | Ended::Signal(_) => row.crashed += 1,
                Ended::Hung => row.hung += 1,
                Ended::Exit(_) => row.refused += 1,
            }
        }
        match trial.finding {
            // A run that ended before the fault is undisturbed, and must end as such.
            Ok(Finding::Same) if !trial.is_injected => {}
            Ok(finding) => *row.findings.entry(finding).or_default() += 1,
            Err(wrong) => {
                row.different += 1;
                let Injection { name, number, fault } = injection;
                let report = format!("{fault:?} at {name} {number} ({:?}): {wrong}", trial.ended);
                // A long run is watched.
                let _ = writeln!(std::io::stderr(), "different: {}", report.replace('\n', " / "));
                self.differences.push(report);
            }
        }
    }

    /// Counts the faults that happened.
    pub(crate) fn injected(&self) -> u32 {
        self.rows.values().flat_map(|row| row.injected.values()).sum()
    }

    pub(crate) fn count_of(&self, finding: Finding) -> u32 {
        self.rows.values().filter_map(|row| row.findings.get(&finding)).sum()
    }
}

/// The faults, by the names that tables and records use.
pub(super) const FAULTS: [(Fault, &str); 5] = [
    (Fault::Kill, "KILL"),
    (Fault::Io, "EIO"),
    (Fault::NoSpace, "ENOSPC"),
    (Fault::Interrupted, "EINTR"),
    (Fault::ShortWrite, "short"),
];

/// The findings, by the names that tables and records use, with their meanings.
pub(super) const FINDINGS: [(Finding, &str, &str); 12] = [
    (Finding::Same, "same", "the same final state, byte for byte"),
    (
        Finding::ConfinementUnknown,
        "untested",
        "the self-test of the sandbox failed: the next message reports less confinement; all else the same",
    ),
    (
        Finding::ListingIncomplete,
        "listing",
        "a folder or a size could not be looked at: the next message lists less; all else the same",
    ),
    (
        Finding::CommandUnknown,
        "unknown",
        "the program ended while the command ran: UNKNOWN, not run again; all else the same",
    ),
    (
        Finding::CommandResultLost,
        "lost",
        "the command ran once, and its result says that its ending is not known; all else the same",
    ),
    (
        Finding::CommandNotRun,
        "not run",
        "the command could not be started and its result says so; all else the same",
    ),
    (
        Finding::HomeRefused,
        "home",
        "the kept home could not be used, and the command's result says so; all else the same",
    ),
    (
        Finding::LayerRefused,
        "no layer",
        "the layer could not be mounted, and the command's result says so; all else the same",
    ),
    (
        Finding::NotUndoable,
        "no undo",
        "what a change of the command replaced could not be kept: its result says that it cannot be undone; all else the same",
    ),
    (
        Finding::NothingKept,
        "dropped",
        "the command ran, and its result says that nothing of what it did was kept; all else the same",
    ),
    (
        Finding::EffectRefused,
        "effect",
        "a change of the command could not be adopted: its result says so; all else the same",
    ),
    (
        Finding::ChangeRefused,
        "refused",
        "a file could not be written: its block FAILED with the cause, the file is untouched; all else the same",
    ),
];

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = format!("{:<18}{:>6}", "call", "calls");
        for (_, name) in FAULTS {
            write!(head, "{name:>8}")?;
        }
        head.push_str(" |  killed refused crashed    hung    done | ");
        for (_, name, _) in FINDINGS {
            write!(head, "{name:>9}")?;
        }
        writeln!(formatter, "{head}  DIFFERENT")?;
        let mut total = Row::default();
        for (name, row) in &self.rows {
            let count = self.counts.get(name).copied().unwrap_or_default();
            writeln!(formatter, "{name:<18}{count:>6}{row}")?;
            total.add(row);
        }
        writeln!(formatter, "{:<18}{:>6}{total}", "total", self.counts.values().sum::<u32>())?;
        for (finding, name, meaning) in FINDINGS {
            writeln!(formatter, "  {name:<9} {:>6}  {meaning}", self.count_of(finding))?;
        }
        for difference in self.differences.iter().take(MOST_REPORTED) {
            writeln!(formatter, "DIFFERENT: {difference}")?;
        }
        Ok(())
    }
}

impl Row {
    fn add(&mut self, other: &Row) {
        for (fault, count) in &other.injected {
            *self.injected.entry(*fault).or_default() += count;
        }
        for (finding, count) in &other.findings {
            *self.findings.entry(*finding).or_default() += count;
        }
        self.killed += other.killed;
        self.refused += other.refused;
        self.crashed += other.crashed;
        self.hung += other.hung;
        self.done += other.done;
        self.different += other.different;
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (fault, _) in FAULTS {
            write!(formatter, "{:>8}", self.injected.get(&fault).copied().unwrap_or_default())?;
        }
        let Row { killed, refused, crashed, hung, done, .. } = self;
        write!(formatter, " |{killed:>8}{refused:>8}{crashed:>8}{hung:>8}{done:>8} | ")?;
        for (finding, _, _) in FINDINGS {
            write!(formatter, "{:>9}", self.findings.get(&finding).copied().unwrap_or_default())?;
        }
        write!(formatter, "{:>11}", self.different)
    }
}
