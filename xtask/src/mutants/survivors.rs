//! The survivors that are meant to be there, each with its reason.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::outcomes::Outcomes;
use crate::TaskError;

/// The survivors of all crates with their reasons: `fixtures/mutants.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Survivors {
    #[serde(default, rename = "survivor")]
    all: Vec<Survivor>,
}

/// Mutants of one description that no test catches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Survivor {
    /// The crate.
    #[serde(rename = "crate")]
    package: String,
    /// The description without the position, which changes with every line above: `src/b.rs: replace < with <= in c`.
    pub(super) mutant: String,
    /// The number of mutants of this description that survive.
    #[serde(default = "one")]
    pub(super) count: usize,
    /// The reason why no test can or should catch them.
    pub(super) reason: String,
}

fn one() -> usize {
    1
}

/// The judgement of a crate's outcomes.
#[derive(Debug)]
pub(super) struct Report {
    /// The survivors without a reason, and the reasons without a survivor.
    pub(super) faults: Vec<String>,
    summary: String,
}

impl Survivors {
    pub(super) fn read(path: &Path) -> Result<Survivors, TaskError> {
        let text = fs::read_to_string(path)
            .map_err(|source| TaskError::Unreadable { path: path.to_owned(), source })?;
        toml::from_str(&text).map_err(|error| TaskError::NotToml {
            file: path.display().to_string(),
            why: error.message().to_owned(),
        })
    }

    /// Returns the survivors of one crate.
    pub(super) fn of<'s>(&'s self, package: &str) -> impl Iterator<Item = &'s Survivor> {
        self.all.iter().filter(move |survivor| survivor.package == package)
    }

    /// Compares the survivors of a crate with those that are meant to be there. `listed` is the number of all its mutants: a reason
    /// without a survivor is a fault only once all of them were tried.
    pub(super) fn judge(&self, package: &str, outcomes: &Outcomes, listed: usize) -> Report {
        let mut survivors: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for mutant in outcomes.missed() {
            survivors.entry(without_position(mutant)).or_default().push(mutant);
        }
        let mut faults = Vec::new();
        for (description, mutants) in &survivors {
            let expected = self.of(package).find(|one| one.mutant == *description).map_or(0, |one| one.count);
            if mutants.len() > expected {
                faults.extend(mutants.iter().map(|mutant| format!("survives without a reason: {mutant}")));
            }
        }
        let is_whole = outcomes.tried() == listed;
        for survivor in self.of(package).filter(|_| is_whole) {
            let surviving = survivors.get(&survivor.mutant).map_or(0, Vec::len);
            if surviving < survivor.count {
                faults.push(format!("caught, and listed as a survivor: {}", survivor.mutant));
            }
        }
        let summary = format!(
            "{package}: {} of {listed} mutants tried, {} survivors",
            outcomes.tried(),
            outcomes.missed().count()
        );
        Report { faults, summary }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.faults {
            writeln!(formatter, "mutants: {fault}")?;
        }
        formatter.write_str(&self.summary)
    }
}

/// Turns `crates/a/src/b.rs:12:3: replace …` into `src/b.rs: replace …`.
fn without_position(mutant: &str) -> String {
    let inside = mutant.splitn(3, '/').nth(2).filter(|_| mutant.starts_with("crates/")).unwrap_or(mutant);
    let mut parts = inside.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(description)) => format!("{file}:{description}"),
        _ => inside.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcomes::Outcome;
    use super::*;

    const LESS: &str = "crates/a/src/b.rs:12:3: replace < with <= in c";

    fn survivors(count: usize) -> Survivors {
        let text = format!(
            "[[survivor]]\ncrate = \"a\"\nmutant = \"src/b.rs: replace < with <= in c\"\ncount = {count}\nreason = \"r\"\n"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_survivor_needs_a_reason_in_its_own_crate() {
        let outcomes = Outcomes::of(&[(LESS, Outcome::Missed)]);
        assert!(survivors(1).judge("a", &outcomes, 1).faults.is_empty());
        let faults = survivors(1).judge("b", &outcomes, 1).faults;
        assert_eq!(faults, [format!("survives without a reason: {LESS}")]);
    }

    #[test]
    fn more_survivors_than_the_reason_counts_are_named() {
        let other = "crates/a/src/b.rs:19:3: replace < with <= in c";
        let outcomes = Outcomes::of(&[(LESS, Outcome::Missed), (other, Outcome::Missed)]);
        assert_eq!(survivors(1).judge("a", &outcomes, 2).faults.len(), 2);
        assert!(survivors(2).judge("a", &outcomes, 2).faults.is_empty());
    }

    #[test]
    fn a_reason_whose_mutant_is_caught_is_a_fault_once_all_were_tried() {
        let outcomes = Outcomes::of(&[(LESS, Outcome::Caught)]);
        assert!(survivors(1).judge("a", &outcomes, 2).faults.is_empty());
        let report = survivors(1).judge("a", &outcomes, 1);
        assert_eq!(
            report.to_string(),
            "mutants: caught, and listed as a survivor: src/b.rs: replace < with <= in c\na: 1 of 1 mutants tried, 0 survivors"
        );
    }

    #[test]
    fn the_reasons_of_this_repository_can_be_read() {
        let survivors = Survivors::read(&crate::root().join("fixtures/mutants.toml")).unwrap();
        assert!(survivors.all.iter().all(|one| one.count > 0 && !one.reason.is_empty()));
    }
}
