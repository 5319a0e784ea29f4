//! `agentd diff`: what changes have done to files, from the contents in the journal.

use std::ops::RangeInclusive;

use change_journal::ChangeNumber;
use local_workspace::{FileDifference, differences};
use serde::Serialize;

use crate::cli::Common;
use crate::exit::{Exit, Failure, Outcome};
use crate::state::Places;
use crate::views::console::Console;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffLine {
    path: String,
    diff: String,
    lines_added: usize,
    lines_removed: usize,
    first_change: u64,
    last_change: u64,
    older_not_kept: bool,
}

/// Prints a unified diff for each file, of the changes in a range of numbers or of all.
pub(crate) fn diff(common: &Common, console: Console, range: Option<RangeInclusive<u64>>) -> Outcome {
    let range = range.unwrap_or(1..=u64::MAX);
    let numbers = ChangeNumber(*range.start())..=ChangeNumber(*range.end());
    let found = match Places::find(common)?.journal_reader()? {
        Some(journal) => differences(&journal, numbers)
            .map_err(|error| Failure::new(Exit::Failed, format!("the journal cannot be read: {error}")))?,
        None => Vec::new(),
    };
    if console.json {
        console.json_result(&found.into_iter().map(line).collect::<Vec<_>>());
        return Ok(Exit::Done);
    }
    let mut is_empty = true;
    for difference in found.iter().filter(|difference| !difference.diff.is_empty()) {
        is_empty = false;
        console.result(&difference.diff);
        if difference.is_cut {
            console.notice(&format!(
                "{}: what it held before change {} is not kept any more",
                difference.path, difference.first
            ));
        }
    }
    if is_empty {
        console.notice("no file has changed");
    }
    Ok(Exit::Done)
}

fn line(difference: FileDifference) -> DiffLine {
    DiffLine {
        path: difference.path,
        diff: difference.diff,
        lines_added: difference.lines_added,
        lines_removed: difference.lines_removed,
        first_change: difference.first.0,
        last_change: difference.last.0,
        older_not_kept: difference.is_cut,
    }
}
