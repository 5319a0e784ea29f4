//! Vector files whose cases the tests of crates run.
//!
//! Such cases need real folders, links, mounts and another user, and the crates under attack want to withstand them in
//! their own tests. So the interpreter lives there, once, and reports the outcome of each case; here the crates' tests are
//! started and their reports are counted.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use super::{Outcome, Tally, is_of_form};
use crate::{Step, TaskError};

/// Names the file whose cases a test reads in place of its own.
const CASES: &str = "CONFORMANCE_CASES";

/// Names the file to which a test adds a line for each case: vector file, case, circumstances, outcome, reason, with
/// tabs between.
const REPORT: &str = "CONFORMANCE_REPORT";

/// A vector file whose cases the tests of crates run.
#[derive(Clone, Copy, Debug)]
pub struct CrateTests {
    /// The name of the vector file.
    pub file: &'static str,
    /// The packages whose tests run it.
    pub packages: &'static [&'static str],
    /// The prefix of the names of these tests.
    pub filter: &'static str,
    /// The circumstances under which every case must be accounted for.
    pub circumstances: &'static [&'static str],
}

const CRATE_TESTS: [CrateTests; 2] = [FILES, COMMANDS];

const FILES: CrateTests = CrateTests {
    file: "fs-attacks.json",
    packages: &["sandbox-fs", "local-workspace"],
    filter: "fs_attacks::",
    circumstances: &[
        "sandbox-fs with openat2 as root",
        "sandbox-fs with walker as root",
        "sandbox-fs with openat2 as an ordinary user",
        "sandbox-fs with walker as an ordinary user",
        "local-workspace with openat2 as root",
        "local-workspace with walker as root",
        "local-workspace with openat2 as an ordinary user",
        "local-workspace with walker as an ordinary user",
    ],
};

/// At a lower level than full a case has passed if it holds exactly when a layer that is left stops it.
const COMMANDS: CrateTests = CrateTests {
    file: "exec-attacks.json",
    packages: &["sandbox-exec"],
    filter: "exec_attacks::",
    circumstances: &[
        "level full as root",
        "level full as an ordinary user",
        "level namespaces as root",
        "level namespaces as an ordinary user",
        "level landlock as root",
        "level landlock as an ordinary user",
        "level process as root",
        "level process as an ordinary user",
        "level none as root",
        "level none as an ordinary user",
    ],
};

/// Returns the tests of crates that run a vector file, if it is for them.
pub(super) fn find(file: &str) -> Option<CrateTests> {
    CRATE_TESTS.iter().find(|tests| is_of_form(tests.file, file)).copied()
}

impl CrateTests {
    /// Runs the tests and counts the cases.
    ///
    /// # Errors
    ///
    /// If the tests could not even begin. A failing test is reported by its cases: those that it lists as failed, and those
    /// that it does not list.
    pub(super) fn run(&self, root: &Path, file: &Path, cases: &[String]) -> Result<Tally, TaskError> {
        let report = std::env::temp_dir().join(format!("conformance-report-{}", std::process::id()));
        let mut arguments = vec!["test", "--quiet", "--test", "it", "--no-fail-fast"];
        arguments.extend(self.packages.iter().flat_map(|package| ["--package", package]));
        arguments.extend(["--", self.filter]);
        let file = fs::canonicalize(file)
            .map_err(|source| TaskError::Unreadable { path: file.to_owned(), source })?;
        let step = Step::cargo(self.file, &arguments)
            .variable(REPORT, &report.to_string_lossy())
            .variable(CASES, &file.to_string_lossy())
            .folder(root);
        let ended = step.run();
        let text = fs::read_to_string(&report);
        // Whether the report can be removed changes nothing about what it says.
        let _ = fs::remove_file(&report);
        match (text, ended) {
            (Ok(text), _) => Ok(self.tally(cases, &text)),
            (Err(_), Err(error)) => Err(error),
            (Err(source), Ok(_)) => Err(TaskError::Unreadable { path: report, source }),
        }
    }

    /// Counts each case once: as failed if it failed anywhere or is not accounted for everywhere, as unable if it could
    /// not run somewhere or was meant for nowhere, and else as passed.
    #[must_use]
    pub fn tally(&self, cases: &[String], report: &str) -> Tally {
        let mut lines: BTreeMap<(&str, &str), Vec<(&str, &str)>> = BTreeMap::new();
        for line in report.lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            if let [file, case, circumstances, outcome, why] = parts[..]
                && file == self.file
            {
                lines.entry((case, circumstances)).or_default().push((outcome, why));
            }
        }
        let mut tally = Tally::default();
        for case in cases {
            let outcomes = self.circumstances.iter().map(|circumstances| {
                let outcomes = lines.get(&(case.as_str(), circumstances)).map_or(&[][..], Vec::as_slice);
                (*circumstances, outcomes)
            });
            tally.record(self.file, case, outcome(outcomes));
        }
        tally
    }
}

fn outcome<'a>(reported: impl Iterator<Item = (&'a str, &'a [(&'a str, &'a str)])>) -> Outcome {
    let mut passed = 0;
    let [mut failed, mut unable, mut not_meant] = [const { Reasons(BTreeMap::new()) }; 3];
    for (circumstances, outcomes) in reported {
        match outcomes {
            [("passed", _)] => passed += 1,
            [("unable", why)] => unable.add(why, circumstances),
            [("not meant", why)] => not_meant.add(why, circumstances),
            [("failed", why)] => failed.add(why, circumstances),
            [] => failed.add("the report does not mention it", circumstances),
            _ => failed.add("the report mentions it several times", circumstances),
        }
    }
    if !failed.0.is_empty() {
        Outcome::Failed(failed.to_string())
    } else if !unable.0.is_empty() {
        Outcome::Unable(unable.to_string())
    } else if passed == 0 {
        Outcome::Unable(not_meant.to_string())
    } else {
        Outcome::Passed
    }
}

/// Reasons, each with the circumstances in which it occurred.
struct Reasons<'a>(BTreeMap<&'a str, Vec<&'a str>>);

impl<'a> Reasons<'a> {
    fn add(&mut self, why: &'a str, circumstances: &'a str) {
        self.0.entry(why).or_default().push(circumstances);
    }
}

impl fmt::Display for Reasons<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (why, circumstances)) in self.0.iter().enumerate() {
            let separator = if nth == 0 { "" } else { "; " };
            write!(formatter, "{separator}{why} ({})", circumstances.join(", "))?;
        }
        Ok(())
    }
}
