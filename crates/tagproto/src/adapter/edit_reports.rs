//! The changed lines in the results of edits.

use std::collections::BTreeSet;

use wap_core::{ChangedLines, ModifyFileResponse};

use crate::CommandResult;

/// The maximum number of characters of changed lines in the results of one reply; notes are not counted.
const MOST_CHARACTERS: usize = 8_000;

/// Replaces changed lines whose numbers a later block of the reply changed.
const MOVED: &str =
    "(a later block of this reply changed this file at or above these lines: they are not shown here)\n";

/// Replaces changed lines of a file that the same message shows whole.
const SHOWN_BELOW: &str = "(shown below)\n";

/// Replaces changed lines beyond the limit.
const TOO_MANY: &str = "(the changed lines are not shown: there are too many in this reply)\n";

/// The changed lines of a reply's edits, until all of its blocks are carried out.
///
/// A model reads all results after the last block, so a result may only show numbers that are still valid then.
#[derive(Debug, Default)]
pub(super) struct EditReports {
    reports: Vec<EditReport>,
}

#[derive(Debug)]
struct EditReport {
    /// Index of the edit's result.
    result: usize,
    /// Canonical path of the file.
    path: String,
    changed: ChangedLines,
    is_valid: bool,
}

impl EditReports {
    /// Records the edit whose result has the index `result`.
    pub(super) fn record(&mut self, result: usize, response: &ModifyFileResponse) {
        let Some(changed) = &response.changed else { return };
        for report in self.reports.iter_mut().filter(|report| report.path == response.path) {
            // Changes further down move none of the reported lines.
            report.is_valid &= report.changed.last_line < changed.first_line;
        }
        self.reports.push(EditReport {
            result,
            path: response.path.clone(),
            changed: changed.clone(),
            is_valid: true,
        });
    }

    /// Withdraws the lines of a file that was replaced or deleted.
    pub(super) fn forget(&mut self, path: &str) {
        for report in self.reports.iter_mut().filter(|report| report.path == path) {
            report.is_valid = false;
        }
    }

    /// Adds the reports to the outputs of their results; `shown_below` are the paths of files that the next message shows whole.
    pub(super) fn write(&self, results: &mut [CommandResult], shown_below: &BTreeSet<String>) {
        let mut left = MOST_CHARACTERS;
        for report in &self.reports {
            let Some(result) = results.get_mut(report.result) else { continue };
            result.notes.extend_from_slice(&report.changed.notes);
            let mut output = String::new();
            let characters = report.changed.text.chars().count();
            match (report.is_valid, left.checked_sub(characters)) {
                _ if shown_below.contains(&report.path) => output.push_str(SHOWN_BELOW),
                (false, _) => output.push_str(MOVED),
                (true, None) => output.push_str(TOO_MANY),
                (true, Some(rest)) => {
                    left = rest;
                    // On a separate line: the numbers would not be aligned after "Output:".
                    output.push_str("The text is now:\n");
                    output.push_str(&report.changed.text);
                }
            }
            if !result.output.is_empty() && !result.output.ends_with('\n') {
                result.output.push('\n');
            }
            result.output.push_str(&output);
        }
    }
}
