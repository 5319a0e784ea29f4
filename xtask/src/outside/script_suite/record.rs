//! The outcomes of a script in several ways, kept in a file so that a run can be resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::way::Way;
use super::tap::{CaseOutcome, ScriptOutcome};
use crate::TaskError;

/// The outcomes of one script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ScriptRecord {
    /// The version of the suite.
    pub(super) version: String,
    /// The name of the script.
    pub(super) script: String,
    /// The number of its runs in each way: more than one where there was a difference.
    pub(super) attempts: u32,
    /// The last outcome in each way.
    pub(super) outcomes: BTreeMap<Way, ScriptOutcome>,
    /// The remarks about the last run in each way.
    pub(super) remarks: BTreeMap<Way, Vec<String>>,
    /// The time that the last run took in each way, in milliseconds.
    pub(super) milliseconds: BTreeMap<Way, u64>,
}

/// A difference between the plain outcome of a case and a confined one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The confined way.
    pub(super) way: Way,
    /// The number of the case; `None` for the end of the script.
    pub(super) case: Option<u32>,
    /// The plain outcome, in words.
    pub(super) plain: String,
    /// The confined outcome, in words.
    pub(super) confined: String,
}

impl ScriptRecord {
    /// Returns the outcome without confinement.
    pub(super) fn plain(&self) -> ScriptOutcome {
        self.outcomes.get(&Way::Plain).cloned().unwrap_or_default()
    }

    /// Returns the cases in which a confined run differs from the plain one.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let plain = self.plain();
        let confined = self.outcomes.iter().filter(|(way, _)| **way != Way::Plain);
        confined.flat_map(|(way, outcome)| differences(*way, &plain, outcome)).collect()
    }
}

fn differences(way: Way, plain: &ScriptOutcome, confined: &ScriptOutcome) -> Vec<Difference> {
    let numbers: BTreeSet<u32> = plain.cases.keys().chain(confined.cases.keys()).copied().collect();
    let word = |case: Option<&CaseOutcome>| case.map_or_else(|| "not run".to_owned(), ToString::to_string);
    let mut differences = Vec::new();
    for number in numbers {
        let (before, after) = (plain.cases.get(&number), confined.cases.get(&number));
        if before != after {
            let (plain, confined) = (word(before), word(after));
            differences.push(Difference { way, case: Some(number), plain, confined });
        }
    }
    let ends = [end(plain), end(confined)];
    if ends[0] != ends[1] {
        let [plain, confined] = ends;
        differences.push(Difference { way, case: None, plain, confined });
    }
    differences
}

/// Describes how a script ended.
fn end(outcome: &ScriptOutcome) -> String {
    match (&outcome.skipped, outcome.is_complete) {
        (_, false) => "ended early".to_owned(),
        (Some(_), true) => "skipped the rest".to_owned(),
        (None, true) => "complete".to_owned(),
    }
}

/// The records of a suite, in a file with one record on each line if the user keeps them.
#[derive(Debug)]
pub(super) struct Records {
    by_script: BTreeMap<String, ScriptRecord>,
    file: Option<(PathBuf, File)>,
}

impl Records {
    /// Reads the records of a version. Without a file none is known and none is kept.
    ///
    /// # Errors
    ///
    /// [`TaskError::Unreadable`], [`TaskError::Unwritable`], and [`TaskError::NotJson`] for a line that is not a record, but
    /// for a last one that was cut off.
    pub(super) fn open(path: Option<&Path>, version: &str) -> Result<Records, TaskError> {
        let Some(path) = path else { return Ok(Records { by_script: BTreeMap::new(), file: None }) };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(TaskError::Unreadable { path: path.to_owned(), source }),
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut by_script = BTreeMap::new();
        for line in whole.lines().filter(|line| !line.is_empty()) {
            let not_json = |source| TaskError::NotJson { what: path.display().to_string(), source };
            let record: ScriptRecord = serde_json::from_str(line).map_err(not_json)?;
            if record.version == version {
                by_script.insert(record.script.clone(), record);
            }
        }
        let unwritable = |source| TaskError::Unwritable { path: path.to_owned(), source };
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(unwritable)?;
        let whole_length = if whole.is_empty() { 0 } else { whole.len() + 1 };
        // A record that was cut off is removed.
        file.set_len(whole_length as u64).map_err(unwritable)?;
        Ok(Records { by_script, file: Some((path.to_owned(), file)) })
    }

    /// Checks whether a script has an outcome in all of these ways.
    pub(super) fn has(&self, script: &str, ways: &[Way]) -> bool {
        let record = self.by_script.get(script);
        record.is_some_and(|record| ways.iter().all(|way| record.outcomes.contains_key(way)))
    }

    /// Adds a record, in place of one of the same script.
    ///
    /// # Errors
    ///
    /// [`TaskError::Unwritable`].
    pub(super) fn add(&mut self, record: ScriptRecord) -> Result<(), TaskError> {
        if let Some((path, file)) = &mut self.file {
            let line = serde_json::to_string(&record).expect("a record has texts as keys alone") + "\n";
            let unwritable = |source| TaskError::Unwritable { path: path.clone(), source };
            file.write_all(line.as_bytes()).map_err(unwritable)?;
        }
        self.by_script.insert(record.script.clone(), record);
        Ok(())
    }

    /// Returns all records by the names of their scripts.
    pub(super) fn all(&self) -> impl Iterator<Item = &ScriptRecord> {
        self.by_script.values()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sandbox_exec::Level;

    use super::super::tap::parse;
    use super::{Records, ScriptRecord, Way};

    const FULL: Way = Way::Confined(Level::Full);

    fn record(script: &str, plain: &str, confined: &str) -> ScriptRecord {
        ScriptRecord {
            version: "1".to_owned(),
            script: script.to_owned(),
            attempts: 1,
            outcomes: [(Way::Plain, parse(plain)), (FULL, parse(confined))].into(),
            remarks: BTreeMap::new(),
            milliseconds: [(Way::Plain, 5)].into(),
        }
    }

    fn rendered(record: &ScriptRecord) -> Vec<String> {
        let differences = record.differences();
        let row =
            |one: &super::Difference| format!("{} {:?}: {} | {}", one.way, one.case, one.plain, one.confined);
        differences.iter().map(row).collect()
    }

    #[test]
    fn equal_outcomes_have_no_difference() {
        let report = "ok 1 - a\nnot ok 2 - b\n1..2\n";
        assert_eq!(rendered(&record("a", report, report)), [""; 0]);
    }

    #[test]
    fn every_case_that_differs_is_named() {
        let record = record("a", "ok 1 - a\nok 2 # skip b (missing X)\nok 3\n1..3\n", "ok 1\nnot ok 2\n");
        assert_eq!(
            rendered(&record),
            [
                "full Some(2): skipped (missing X) | failed",
                "full Some(3): passed | not run",
                "full None: complete | ended early",
            ]
        );
    }

    #[test]
    fn records_are_read_back_and_the_last_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records");
        let mut records = Records::open(Some(&path), "1").unwrap();
        records.add(record("a", "1..0\n", "1..0\n")).unwrap();
        records.add(record("a", "ok 1\n1..1\n", "1..0\n")).unwrap();
        records.add(ScriptRecord { version: "0".to_owned(), ..record("b", "", "") }).unwrap();
        // A process that was killed while it wrote.
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "{\"version\":").unwrap();
        let mut records = Records::open(Some(&path), "1").unwrap();
        assert_eq!(records.all().collect::<Vec<_>>(), [&record("a", "ok 1\n1..1\n", "1..0\n")]);
        assert!(records.has("a", &[Way::Plain, FULL]));
        assert!(!records.has("a", &[Way::Confined(Level::Landlock)]));
        assert!(!records.has("b", &[Way::Plain]));
        records.add(record("c", "1..0\n", "1..0\n")).unwrap();
        let records = Records::open(Some(&path), "1").unwrap();
        assert_eq!(records.all().map(|record| &*record.script).collect::<Vec<_>>(), ["a", "c"]);
    }
}
