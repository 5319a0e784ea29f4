//! The numbers of passed and failed cases, with a line about each that did not pass.

use std::collections::BTreeMap;
use std::fmt;

use super::Outcome;

/// The outcomes of a number of cases.
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
    /// Records the outcome of a case.
    pub(super) fn record(&mut self, file: &str, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(why) => self.failed.push(format!("FAILED {file} {name}: {why}")),
            Outcome::Unable(why) => self.unable.push(format!("UNABLE {file} {name}: {why}")),
        }
    }

    /// Records that a case was run with another expectation than its own.
    pub(super) fn ruled_otherwise(&mut self, file: &str, name: &str, reason: &str) {
        self.ruled_otherwise.push(format!("ruled otherwise: {file} {name}: {reason}"));
    }

    /// Records that a case has no runner.
    pub(super) fn no_runner(&mut self, file: &str, kind: Option<&str>) {
        let source = kind.map_or_else(|| file.to_owned(), |kind| format!("{file} kind {kind}"));
        *self.without_runner.entry(source).or_default() += 1;
    }

    /// Adds the cases of another tally.
    pub fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.unable.extend(other.unable);
        self.ruled_otherwise.extend(other.ruled_otherwise);
        for (source, count) in other.without_runner {
            *self.without_runner.entry(source).or_default() += count;
        }
    }

    /// Returns the number of cases that passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.passed
    }

    /// Returns the number of cases that failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.failed.len()
    }

    /// Returns the number of cases that cannot run on this machine.
    #[must_use]
    pub fn unable(&self) -> usize {
        self.unable.len()
    }

    /// Returns the number of cases without a runner.
    #[must_use]
    pub fn without_runner(&self) -> usize {
        self.without_runner.values().sum()
    }

    /// Returns a line for each case that failed, cannot run or was ruled otherwise, and for each kind of case without a
    /// runner.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let without_runner =
            self.without_runner.iter().map(|(source, count)| format!("no runner: {source} ({count} cases)"));
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
