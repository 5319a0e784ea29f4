//! The time that every target has run in all, and the page that shows it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::figures::Figures;
use crate::TaskError;
use crate::repository::page::write_section;
use crate::repository::today::today;

const FILE: &str = "fuzz/times.json";
const PAGE: &str = "docs/fuzzing.md";
const HEADING: &str = "Time so far";

/// The sums over all runs of one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sums {
    cpu_seconds: u64,
    inputs: u64,
    /// Runs that ended at an input that broke a promise.
    failures: u64,
    /// Branches that the newest run reached.
    coverage: u64,
}

/// Adds the figures of a run to those of the runs before, and writes the section of the page.
///
/// # Errors
///
/// If the file of the sums cannot be read, or one of the two cannot be written.
pub(super) fn add(root: &Path, done: &[Figures]) -> Result<(), TaskError> {
    let path = root.join(FILE);
    let mut all: BTreeMap<String, Sums> = match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| TaskError::Unreadable { path: path.clone(), source: error.into() })?,
        Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
        Err(source) => return Err(TaskError::Unreadable { path, source }),
    };
    for one in done {
        let sums = all.entry(one.name.clone()).or_default();
        sums.cpu_seconds += one.cpu_seconds;
        sums.inputs += one.inputs;
        sums.failures += u64::from(one.has_failed);
        sums.coverage = one.coverage;
    }
    let json = serde_json::to_string_pretty(&all).expect("names and numbers are JSON") + "\n";
    fs::write(&path, json).map_err(|source| TaskError::Unwritable { path, source })?;
    let page = root.join(PAGE);
    let before =
        fs::read_to_string(&page).map_err(|source| TaskError::Unreadable { path: page.clone(), source })?;
    let beginning = before.split_once("\n## ").map_or(before.as_str(), |(beginning, _)| beginning);
    write_section(&page, beginning, HEADING, &section(&all, &today()))
}

fn section(all: &BTreeMap<String, Sums>, date: &str) -> String {
    let hours = |seconds: u64| seconds as f64 / 3_600.0;
    let total: u64 = all.values().map(|sums| sums.cpu_seconds).sum();
    let mut text = format!(
        "Written by `cargo xtask fuzz --page`, last on {date}: {:.1} hours of processor time in all runs.\n\n\
         | target | hours | inputs | branches reached | runs that found something |\n| --- | ---: | ---: | ---: | ---: |\n",
        hours(total)
    );
    for (name, sums) in all {
        let Sums { cpu_seconds, inputs, failures, coverage } = sums;
        text.push_str(&format!(
            "| `{name}` | {:.2} | {inputs} | {coverage} | {failures} |\n",
            hours(*cpu_seconds)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(cpu_seconds: u64, has_failed: bool) -> Figures {
        Figures {
            cpu_seconds,
            has_failed,
            ..Figures::read("path_rules", "stat::number_of_executed_units: 5\n", true)
        }
    }

    #[test]
    fn runs_add_up() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("fuzz")).unwrap();
        fs::create_dir_all(folder.path().join("docs")).unwrap();
        let page = folder.path().join(PAGE);
        fs::write(&page, "# Fuzzing\n\nText.\n").unwrap();
        add(folder.path(), &[figures(1_800, false)]).unwrap();
        add(folder.path(), &[figures(5_400, true)]).unwrap();
        let written = fs::read_to_string(&page).unwrap();
        assert!(written.starts_with("# Fuzzing\n\nText.\n\n## Time so far\n\n"), "{written}");
        assert!(written.contains("2.0 hours"), "{written}");
        assert!(written.ends_with("| `path_rules` | 2.00 | 10 | 0 | 1 |\n"), "{written}");
    }
}
