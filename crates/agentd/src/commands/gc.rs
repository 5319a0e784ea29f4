//! `agentd gc`: removing what is kept for finished sessions beyond a budget.

use change_journal::{GarbageReport, RunNumber};
use serde::Serialize;

use crate::cli::Common;
use crate::exit::{Exit, Failure, Outcome};
use crate::state::garbage_keeper;
use crate::state::{self, Places};
use crate::views::console::Console;
use crate::views::session_failure::explain;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    contents_removed: u64,
    contents_bytes: u64,
    changes_not_undoable: u64,
    stray_files_removed: u64,
    stray_files_bytes: u64,
    outputs_removed: u64,
    outputs_bytes: u64,
    kept_bytes: u64,
    database_bytes_freed: u64,
}

/// Removes contents and outputs that no unfinished session needs, and says what.
pub(crate) fn collect(common: &Common, console: Console, limit_bytes: u64) -> Outcome {
    if common.read_only {
        return Err(Failure::new(Exit::Refused, "--read-only refuses to remove what is kept"));
    }
    let places = Places::find(common)?;
    if !places.has_sessions() {
        console.notice("nothing is kept here");
        return Ok(Exit::Done);
    }
    let sessions = state::open(common, &places, console)?;
    let journal = sessions.journal_reader();
    let unfinished = garbage_keeper::unfinished(journal).map_err(explain)?;
    let failed = |error| Failure::new(Exit::Failed, format!("the journal failed: {error}"));
    // Files must hold what the journal promises before their contents may go.
    sessions.workspace().checkpoint();
    let is_needed = |run: RunNumber| {
        let run = journal.run(run).ok().flatten();
        run.is_some_and(|run| unfinished.contains(&run.key.conversation))
    };
    let (outputs_removed, outputs_bytes) = sessions.workspace().discard_outputs(&is_needed);
    let rule = garbage_keeper::rule(journal, &unfinished, limit_bytes).map_err(explain)?;
    let GarbageReport {
        contents_removed,
        contents_bytes,
        changes_cut,
        files_removed,
        files_bytes,
        kept_bytes,
        database_bytes,
        ..
    } = sessions.collect_garbage(&rule).map_err(failed)?;
    let report = Report {
        contents_removed,
        contents_bytes,
        changes_not_undoable: changes_cut,
        stray_files_removed: files_removed,
        stray_files_bytes: files_bytes,
        outputs_removed,
        outputs_bytes,
        kept_bytes,
        database_bytes_freed: database_bytes,
    };
    if console.json {
        console.json_result(&report);
    } else {
        say(console, &report);
    }
    Ok(Exit::Done)
}

fn say(console: Console, report: &Report) {
    let Report { contents_removed, contents_bytes, changes_not_undoable, .. } = report;
    console.result(&format!("contents of files: {contents_removed} removed ({contents_bytes} bytes)"));
    if *changes_not_undoable > 0 {
        console.result(&format!("  {changes_not_undoable} changes can no longer be undone"));
    }
    console.result(&format!(
        "stray files of the journal: {} removed ({} bytes)",
        report.stray_files_removed, report.stray_files_bytes
    ));
    console.result(&format!(
        "outputs of commands: {} removed ({} bytes)",
        report.outputs_removed, report.outputs_bytes
    ));
    console.result(&format!("the database is {} bytes smaller", report.database_bytes_freed));
    console.result(&format!("{} bytes of contents are kept", report.kept_bytes));
}
