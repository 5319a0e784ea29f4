//! `agentd diff`: changes as differences, from the contents in the journal.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use change_journal::{ChangeNumber, JournalError, JournalReader};
use local_workspace::{FileDifference, differences};
use serde::Serialize;
use workspace_host::state::bookkeeping::folded_line;
use workspace_host::{WorkspacePaths, bookkeeping_paths};

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
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
///
/// Unless all are wanted, files with nothing but bookkeeping are folded into one line.
pub(crate) fn diff(
    common: &CommonOptions,
    console: Console,
    range: Option<RangeInclusive<u64>>,
    all: bool,
) -> Outcome {
    let given = range.clone().filter(|range| *range != (1..=u64::MAX));
    let range = range.unwrap_or(1..=u64::MAX);
    let numbers = ChangeNumber(*range.start())..=ChangeNumber(*range.end());
    let paths = WorkspacePaths::find(&common.host())?;
    let unreadable =
        |error: JournalError| Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"));
    let journal = paths.journal_reader()?;
    if let Some(given) = &given
        && let Some(journal) = &journal
        && !has_change(journal, &numbers).map_err(unreadable)?
    {
        return Err(no_such_change(given));
    }
    let shows_all = all || console.json;
    let folded = match &journal {
        Some(journal) if !shows_all => bookkeeping_paths(journal, &paths, &numbers).map_err(unreadable)?,
        _ => BTreeSet::new(),
    };
    let differences = journal.as_ref().map(|journal| differences(journal, numbers).map_err(unreadable));
    let differences = differences.transpose()?.into_iter().flatten();
    let differences = differences.filter_map(|file| file.map_err(unreadable).transpose());
    if console.json {
        let lines: Vec<DiffLine> = differences.map(|file| file.map(line)).collect::<Result<_, _>>()?;
        console.json_result(&lines);
        return Ok(Exit::Done);
    }
    let mut is_empty = true;
    let mut not_shown = 0;
    // File by file: all of them together can be more than fits into memory.
    for difference in differences {
        let difference = difference?;
        if difference.diff.is_empty() {
            continue;
        }
        is_empty = false;
        if folded.contains(&difference.path) {
            not_shown += 1;
            continue;
        }
        console.file_result(&difference.diff);
        // Where nothing of it is kept, the difference says so.
        if difference.is_cut && difference.lines_added + difference.lines_removed > 0 {
            console.notice(&format!(
                "{}: what it held before change {} is not kept any more",
                difference.path, difference.first
            ));
        }
    }
    if let Some(line) = folded_line(not_shown) {
        console.notice(&line);
    }
    if is_empty {
        console.notice("no file has changed");
    }
    Ok(Exit::Done)
}

/// Checks whether there is a change of these numbers, including those of folders and those that were not made: neither has a
/// difference.
fn has_change(journal: &JournalReader, numbers: &RangeInclusive<ChangeNumber>) -> Result<bool, JournalError> {
    let before = ChangeNumber(numbers.start().0.saturating_sub(1));
    let first = journal.changes(before, 1)?;
    Ok(first.first().is_some_and(|change| change.number <= *numbers.end()))
}

fn no_such_change(range: &RangeInclusive<u64>) -> Failure {
    let message = match (range.start(), range.end()) {
        (first, last) if first == last => format!("there is no change {first}"),
        (first, &u64::MAX) => format!("there is no change from {first} on"),
        (first, last) => format!("there is no change from {first} to {last}"),
    };
    Failure::new(Exit::Usage, message).advise("`agentd log` lists the changes")
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

/// Reads `N`, `N..M`, `N..` or `..M`, both ends included.
pub(crate) fn change_range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str, open: u64| match text {
        "" => Ok(open),
        _ => text.parse().map_err(|_| format!("'{text}' is not the number of a change")),
    };
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first, 1)?, number(last.trim_start_matches('='), u64::MAX)?),
        None => {
            let only = number(text, 0)?;
            (only, only)
        }
    };
    if first > last {
        return Err(format!("the range is empty: {first} comes after {last}"));
    }
    Ok(first..=last)
}
