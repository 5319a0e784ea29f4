//! The outcomes of the mutants of one crate, collected over several runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::TaskError;

/// The file in the crate's folder that collects the outcomes.
const COLLECTED: &str = "outcomes.tsv";

/// The result of the tests of one mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// A test failed.
    Caught,
    /// The tests did not end in time.
    TimedOut,
    /// It does not compile.
    Unviable,
    /// Every test passed.
    Missed,
}

/// The outcomes by their names in files, which `cargo mutants` gives them.
const NAMES: [(Outcome, &str); 4] = [
    (Outcome::Caught, "caught"),
    (Outcome::TimedOut, "timeout"),
    (Outcome::Unviable, "unviable"),
    (Outcome::Missed, "missed"),
];

/// The outcome of each mutant by its name, `crates/a/src/b.rs:12:3: replace < with <= in c` for instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcomes(BTreeMap<String, Outcome>);

impl Outcomes {
    /// Reads what was collected in a crate's folder, and what a run that was interrupted has left there.
    pub(super) fn read(folder: &Path) -> Result<Outcomes, TaskError> {
        let mut outcomes = Outcomes::default();
        for line in read_lines(&folder.join(COLLECTED))? {
            let (outcome, mutant) = line.split_once('\t').unwrap_or_default();
            if let Some((outcome, _)) = NAMES.iter().find(|(_, name)| *name == outcome) {
                outcomes.0.insert(mutant.to_owned(), *outcome);
            }
        }
        outcomes.take_in(folder)?;
        Ok(outcomes)
    }

    /// Takes in the outcomes of the last run of `cargo mutants`, which it writes one by one, and keeps all of them.
    pub(super) fn take_in(&mut self, folder: &Path) -> Result<(), TaskError> {
        if !folder.exists() {
            return Ok(());
        }
        for (outcome, name) in NAMES {
            for mutant in read_lines(&folder.join(format!("mutants.out/{name}.txt")))? {
                self.0.insert(mutant, outcome);
            }
        }
        let path = folder.join(COLLECTED);
        let name =
            |outcome: &Outcome| NAMES.iter().find(|(one, _)| one == outcome).map_or("", |(_, name)| name);
        let lines = self.0.iter().map(|(mutant, outcome)| format!("{}\t{mutant}\n", name(outcome)));
        fs::write(&path, lines.collect::<String>()).map_err(|source| TaskError::Unwritable { path, source })
    }

    /// Drops the mutants that the sources do not have any more.
    pub(super) fn retain(&mut self, listed: &[String]) {
        let listed: std::collections::HashSet<&str> = listed.iter().map(String::as_str).collect();
        self.0.retain(|mutant, _| listed.contains(mutant.as_str()));
    }

    /// Returns the number of mutants with this outcome.
    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.0.values().filter(|one| **one == outcome).count()
    }

    /// Returns the number of mutants that were tried.
    pub(super) fn tried(&self) -> usize {
        self.0.len()
    }

    /// Returns the survivors: the names of the mutants that no test has caught.
    pub(super) fn missed(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, outcome)| **outcome == Outcome::Missed).map(|(mutant, _)| mutant.as_str())
    }

    #[cfg(test)]
    pub(super) fn of(outcomes: &[(&str, Outcome)]) -> Outcomes {
        Outcomes(outcomes.iter().map(|(mutant, outcome)| ((*mutant).to_owned(), *outcome)).collect())
    }
}

/// Reads the lines of a file that may be missing.
fn read_lines(path: &Path) -> Result<Vec<String>, TaskError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(TaskError::Unreadable { path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_several_runs_are_collected_and_the_last_one_holds() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(folder.path().join("mutants.out")).unwrap();
            fs::write(folder.path().join(format!("mutants.out/{name}.txt")), text).unwrap();
        };
        write("missed", "a.rs:1:1: x\na.rs:2:1: y\n");
        write("unviable", "a.rs:4:1: w\n");
        let mut outcomes = Outcomes::read(folder.path()).unwrap();
        assert_eq!(outcomes.missed().collect::<Vec<_>>(), ["a.rs:1:1: x", "a.rs:2:1: y"]);
        fs::remove_dir_all(folder.path().join("mutants.out")).unwrap();
        write("caught", "a.rs:2:1: y\n");
        write("timeout", "a.rs:3:1: z\n");
        outcomes.take_in(folder.path()).unwrap();
        let again = Outcomes::read(folder.path()).unwrap();
        assert_eq!(again, outcomes);
        assert_eq!(again.missed().collect::<Vec<_>>(), ["a.rs:1:1: x"]);
        let counts = NAMES.map(|(outcome, _)| again.count(outcome));
        assert_eq!((counts, again.tried()), ([1, 1, 1, 1], 4));
    }

    #[test]
    fn mutants_of_earlier_sources_are_dropped() {
        let mut outcomes =
            Outcomes::of(&[("a.rs:1:1: x", Outcome::Missed), ("a.rs:9:1: x", Outcome::Caught)]);
        outcomes.retain(&["a.rs:9:1: x".to_owned()]);
        assert_eq!(outcomes, Outcomes::of(&[("a.rs:9:1: x", Outcome::Caught)]));
    }
}
