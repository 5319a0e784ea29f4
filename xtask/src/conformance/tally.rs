//! How many cases passed, and what is to be said about the others.

use std::collections::BTreeMap;
use std::fmt;

use super::Outcome;

/// What became of a number of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    passed: usize,
    failed: Vec<String>,
    unable: Vec<String>,
    /// Notes about cases that are counted as passed or failed too.
    ruled_otherwise: Vec<String>,
    /// By file, and by kind where there is one.
    without_runner: BTreeMap<String, usize>,
}

impl Tally {
    /// Notes what became of a case.
    pub(super) fn record(&mut self, file: &str, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(why) => self.failed.push(format!("FAILED {file} {name}: {why}")),
            Outcome::Unable(why) => self.unable.push(format!("UNABLE {file} {name}: {why}")),
        }
    }

    /// Notes that a case was run with another expectation than its own.
    pub(super) fn ruled_otherwise(&mut self, file: &str, name: &str, reason: &str) {
        self.ruled_otherwise.push(format!("ruled otherwise: {file} {name}: {reason}"));
    }

    /// Notes that a case has no runner.
    pub(super) fn no_runner(&mut self, file: &str, kind: Option<&str>) {
        let place = kind.map_or_else(|| file.to_owned(), |kind| format!("{file} kind {kind}"));
        *self.without_runner.entry(place).or_default() += 1;
    }

    /// Adds the cases of another tally.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.unable.extend(other.unable);
        self.ruled_otherwise.extend(other.ruled_otherwise);
        for (place, count) in other.without_runner {
            *self.without_runner.entry(place).or_default() += count;
        }
    }

    /// How many cases passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// How many cases failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.failed.len()
    }

    /// How many cases cannot run on this machine.
    #[must_use]
    pub fn unable(&self) -> usize {
        self.unable.len()
    }

    /// How many cases have no runner.
    #[must_use]
    pub fn without_runner(&self) -> usize {
        self.without_runner.values().sum()
    }

    /// One line for each case that failed, cannot run or was ruled otherwise, and for each kind of case without a
    /// runner.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let without_runner =
            self.without_runner.iter().map(|(place, count)| format!("no runner: {place} ({count} cases)"));
        let cases = self.failed.iter().chain(&self.unable).chain(&self.ruled_otherwise).cloned();
        cases.chain(without_runner).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [passed, failed, unable, without] =
            [self.passed(), self.failed(), self.unable(), self.without_runner()];
        let total = passed + failed + unable + without;
        write!(
            formatter,
            "{total} cases: {passed} passed, {failed} failed, {unable} cannot run here, {without} have no runner"
        )
    }
}
