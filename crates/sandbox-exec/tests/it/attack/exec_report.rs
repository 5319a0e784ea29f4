//! Reports the result of each case of the attack corpus.
//!
//! The variable `CONFORMANCE_REPORT` names a file. One line is added for each case, its parts separated by tabs: the
//! vector file, the case, under what circumstances it ran, `passed`, `failed`, `unable` or `not meant`, and why.

use std::fs::File;
use std::io::Write;

use sandbox_exec::Level;

use crate::attack::blocked::Attacker;

pub(crate) const VARIABLE: &str = "CONFORMANCE_REPORT";

/// The result of a case.
pub(crate) enum Verdict {
    Passed,
    Failed(String),
    /// This machine cannot run it.
    Unable(String),
    /// It is not meant for this level or user.
    NotMeant(String),
}

pub(crate) struct Report {
    file: Option<File>,
    circumstances: String,
}

impl Report {
    pub(crate) fn open(level: Level, attacker: Attacker) -> Report {
        Report { file: Report::open_file(), circumstances: format!("level {level} as {}", attacker.name()) }
    }

    pub(crate) fn open_file() -> Option<File> {
        std::env::var_os(VARIABLE).map(|path| {
            // A copy of this program that runs as another user finds the file already made.
            let is_there = std::path::Path::new(&path).exists();
            File::options().append(true).create(!is_there).open(path).unwrap()
        })
    }

    /// Checks whether a report was requested.
    pub(crate) fn is_wanted(&self) -> bool {
        self.file.is_some()
    }

    pub(crate) fn note(&self, name: &str, verdict: &Verdict) {
        let Some(mut file) = self.file.as_ref() else { return };
        let (word, why) = match verdict {
            Verdict::Passed => ("passed", ""),
            Verdict::Failed(why) => ("failed", why.as_str()),
            Verdict::Unable(why) => ("unable", why.as_str()),
            Verdict::NotMeant(why) => ("not meant", why.as_str()),
        };
        let why = why.replace(['\t', '\n'], " ");
        let line = format!("exec-attacks.json\t{name}\t{}\t{word}\t{why}\n", self.circumstances);
        // One write, so that tests which run at once do not mix their lines.
        file.write_all(line.as_bytes()).unwrap();
    }
}
