//! The outcomes of all cases, recorded for `cargo xtask conformance`.
//!
//! The variable `CONFORMANCE_REPORT` names a file. One line is added for each case, its parts separated by tabs: the
//! vector file, the case, the circumstances of the run, `passed`, `failed`, `unable` or `not meant`, and the reason.

use std::fs::File;
use std::io::Write;

use sandbox_fs::ResolveMethod;

use super::{Case, User};

const VARIABLE: &str = "CONFORMANCE_REPORT";

/// The outcome of a case.
pub(super) enum Outcome {
    Passed,
    Failed(String),
    /// This machine cannot run it.
    Unable(String),
    /// It is not meant for this subject, user or system.
    NotMeant(String),
}

pub(super) struct Report {
    file: Option<File>,
    circumstances: String,
}

impl Report {
    pub(super) fn open(subject: &str, method: ResolveMethod, user: User) -> Report {
        let file = std::env::var_os(VARIABLE)
            .map(|path| File::options().append(true).create(true).open(path).unwrap());
        Report { file, circumstances: format!("{subject} with {method} as {}", user.name()) }
    }

    /// Returns whether the run has a report.
    pub(super) fn is_wanted(&self) -> bool {
        self.file.is_some()
    }

    pub(super) fn note(&self, case: &Case, outcome: &Outcome) {
        let Some(mut file) = self.file.as_ref() else { return };
        let (word, why) = match outcome {
            Outcome::Passed => ("passed", ""),
            Outcome::Failed(why) => ("failed", why.as_str()),
            Outcome::Unable(why) => ("unable", why.as_str()),
            Outcome::NotMeant(why) => ("not meant", why.as_str()),
        };
        let why = why.replace(['\t', '\n'], " ");
        let line = format!("fs-attacks.json\t{}\t{}\t{word}\t{why}\n", case.name, self.circumstances);
        // One write, so that tests which run at once do not mix their lines.
        file.write_all(line.as_bytes()).unwrap();
    }
}
