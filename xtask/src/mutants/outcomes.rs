//! The outcomes of the mutants of one crate, collected over several runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::trial::Trial;
use crate::TaskError;

/// The file in the crate's folder that collects the outcomes, each with the tree that it is of and its date.
const COLLECTED: &str = "outcomes.tsv";

/// The file in the crate's folder that says what the last run of `cargo mutants` was of. It is written before that run, which may be
/// killed.
const RUN: &str = "run.tsv";

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

/// The outcomes of one state of a crate: of each mutant by its name, `crates/a/src/b.rs:12:3: replace < with <= in c` for instance,
/// with the date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcomes {
    trial: Trial,
    all: BTreeMap<String, (Outcome, String)>,
}

impl Outcomes {
    /// Begins a run, or continues an earlier one: reads what was collected of the same state of the crate, and what a run that was
    /// interrupted has left of it. Outcomes of another state, or of one that is not known, are removed, with what `cargo mutants`
    /// would continue from.
    pub(super) fn begin(folder: &Path, trial: &Trial) -> Result<Outcomes, TaskError> {
        let mut outcomes = Outcomes { trial: trial.clone(), all: BTreeMap::new() };
        let earlier = read_lines(&folder.join(RUN))?.first().and_then(|line| Trial::parse(line));
        match earlier {
            Some(earlier) if earlier.tree == trial.tree => {
                outcomes.collect(folder)?;
                // Its own date is that of what it has left.
                outcomes.trial = earlier;
                outcomes.take_in(folder)?;
                outcomes.trial = trial.clone();
            }
            _ => remove(folder)?,
        }
        let unwritable = |source| TaskError::Unwritable { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(unwritable)?;
        fs::write(folder.join(RUN), format!("{}\n", trial.line())).map_err(unwritable)?;
        Ok(outcomes)
    }

    /// Reads the collected outcomes of the same state of the crate.
    fn collect(&mut self, folder: &Path) -> Result<(), TaskError> {
        for line in read_lines(&folder.join(COLLECTED))? {
            let mut columns = line.splitn(4, '\t');
            let mut column = || columns.next().unwrap_or_default();
            let (outcome, tree, date, mutant) = (column(), column(), column(), column());
            if let Some((outcome, _)) = NAMES.iter().find(|(_, name)| *name == outcome)
                && tree == self.trial.tree
            {
                self.all.insert(mutant.to_owned(), (*outcome, date.to_owned()));
            }
        }
        Ok(())
    }

    /// Takes in the outcomes of the last run of `cargo mutants`, which it writes one by one, and keeps all of them.
    pub(super) fn take_in(&mut self, folder: &Path) -> Result<(), TaskError> {
        for (outcome, name) in NAMES {
            for mutant in read_lines(&folder.join(format!("mutants.out/{name}.txt")))? {
                let new = (outcome, self.trial.date.clone());
                let kept = self.all.entry(mutant).or_insert_with(|| new.clone());
                // The same files are read more than once; what they say is as old as it was.
                if kept.0 != outcome {
                    *kept = new;
                }
            }
        }
        let path = folder.join(COLLECTED);
        let name =
            |outcome: &Outcome| NAMES.iter().find(|(one, _)| one == outcome).map_or("", |(_, name)| name);
        let lines = self.all.iter().map(|(mutant, (outcome, date))| {
            format!("{}\t{}\t{date}\t{mutant}\n", name(outcome), self.trial.tree)
        });
        fs::write(&path, lines.collect::<String>()).map_err(|source| TaskError::Unwritable { path, source })
    }

    /// Returns the id of the crate's tree of which the outcomes are.
    pub(super) fn tree(&self) -> &str {
        &self.trial.tree
    }

    /// Returns the first and the last date of an outcome; `None` if there is none.
    pub(super) fn dates(&self) -> Option<(&str, &str)> {
        let dates = || self.all.values().map(|(_, date)| date.as_str());
        Some((dates().min()?, dates().max()?))
    }

    /// Drops the mutants that the sources do not have any more.
    pub(super) fn retain(&mut self, listed: &[String]) {
        let listed: std::collections::HashSet<&str> = listed.iter().map(String::as_str).collect();
        self.all.retain(|mutant, _| listed.contains(mutant.as_str()));
    }

    /// Returns the number of mutants with this outcome.
    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.all.values().filter(|(one, _)| *one == outcome).count()
    }

    /// Returns the number of mutants that were tried.
    pub(super) fn tried(&self) -> usize {
        self.all.len()
    }

    /// Returns the survivors: the names of the mutants that no test has caught.
    pub(super) fn missed(&self) -> impl Iterator<Item = &str> {
        let missed = |(outcome, _): &(Outcome, String)| *outcome == Outcome::Missed;
        self.all.iter().filter(move |(_, one)| missed(one)).map(|(mutant, _)| mutant.as_str())
    }

    #[cfg(test)]
    pub(super) fn of(outcomes: &[(&str, Outcome)]) -> Outcomes {
        let trial = Trial { tree: "0123456789abcdef".to_owned(), date: "2026-11-26".to_owned() };
        let dated =
            |(mutant, outcome): &(&str, Outcome)| ((*mutant).to_owned(), (*outcome, trial.date.clone()));
        Outcomes { all: outcomes.iter().map(dated).collect(), trial: trial.clone() }
    }
}

/// Removes a crate's folder, which may be missing.
fn remove(folder: &Path) -> Result<(), TaskError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(TaskError::Unwritable { path: folder.to_owned(), source })
        }
        _ => Ok(()),
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

    fn trial(tree: &str, date: &str) -> Trial {
        Trial { tree: tree.to_owned(), date: date.to_owned() }
    }

    /// Writes a file of `cargo mutants`: the mutants of one outcome.
    fn write(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder.join("mutants.out")).unwrap();
        fs::write(folder.join(format!("mutants.out/{name}.txt")), text).unwrap();
    }

    #[test]
    fn outcomes_of_several_runs_are_collected_and_the_last_one_holds() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        Outcomes::begin(folder, &trial("t", "2026-01-01")).unwrap();
        // This run is killed.
        write(folder, "missed", "a.rs:1:1: x\na.rs:2:1: y\n");
        write(folder, "unviable", "a.rs:4:1: w\n");
        let mut outcomes = Outcomes::begin(folder, &trial("t", "2026-01-02")).unwrap();
        assert_eq!(outcomes.missed().collect::<Vec<_>>(), ["a.rs:1:1: x", "a.rs:2:1: y"]);
        assert_eq!(outcomes.dates(), Some(("2026-01-01", "2026-01-01")), "not the date of reading");
        fs::remove_dir_all(folder.join("mutants.out")).unwrap();
        write(folder, "caught", "a.rs:2:1: y\n");
        write(folder, "timeout", "a.rs:3:1: z\n");
        outcomes.take_in(folder).unwrap();
        let again = Outcomes::begin(folder, &trial("t", "2026-01-03")).unwrap();
        assert_eq!(again.all, outcomes.all);
        assert_eq!(again.missed().collect::<Vec<_>>(), ["a.rs:1:1: x"]);
        assert_eq!(again.dates(), Some(("2026-01-01", "2026-01-02")));
        assert_eq!(again.all["a.rs:2:1: y"], (Outcome::Caught, "2026-01-02".to_owned()));
        let counts = NAMES.map(|(outcome, _)| again.count(outcome));
        assert_eq!((counts, again.tried()), ([1, 1, 1, 1], 4));
    }

    #[test]
    fn outcomes_of_another_state_of_the_crate_count_as_not_tried() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut outcomes = Outcomes::begin(folder, &trial("t", "2026-01-01")).unwrap();
        write(folder, "caught", "a.rs:1:1: x\n");
        outcomes.take_in(folder).unwrap();
        assert_eq!(Outcomes::begin(folder, &trial("t", "2026-01-02")).unwrap().tried(), 1);
        let outcomes = Outcomes::begin(folder, &trial("u", "2026-01-02")).unwrap();
        assert_eq!((outcomes.tried(), outcomes.dates()), (0, None));
        assert!(!folder.join("mutants.out").exists(), "`cargo mutants` would not try them again");
        assert_eq!(Outcomes::begin(folder, &trial("t", "2026-01-02")).unwrap().tried(), 0);
    }

    #[test]
    fn outcomes_of_an_unknown_state_count_as_not_tried() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "caught", "a.rs:2:1: y\n");
        fs::write(folder.path().join(COLLECTED), "caught\ta.rs:1:1: x\n").unwrap();
        assert_eq!(Outcomes::begin(folder.path(), &trial("t", "2026-01-01")).unwrap().tried(), 0);
    }

    #[test]
    fn mutants_of_earlier_sources_are_dropped() {
        let mut outcomes =
            Outcomes::of(&[("a.rs:1:1: x", Outcome::Missed), ("a.rs:9:1: x", Outcome::Caught)]);
        outcomes.retain(&["a.rs:9:1: x".to_owned()]);
        assert_eq!(outcomes, Outcomes::of(&[("a.rs:9:1: x", Outcome::Caught)]));
    }
}
