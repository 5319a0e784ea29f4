//! `agentd gc`: removes contents of finished sessions beyond a limit.

use sandbox_exec::HomeSize;
use serde::Serialize;
use workspace_host::SharedSessions;
use workspace_host::WorkspacePaths;
use workspace_host::homes;
use workspace_host::{CollectGarbage, Collected};

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::count::counted;

/// Removes contents and outputs that no unfinished session needs, and reports how many.
pub(crate) fn collect(common: &CommonOptions, console: Console, limit_bytes: u64) -> Outcome {
    if common.read_only {
        return Err(Failure::new(Exit::Refused, "--read-only refuses to remove what is kept"));
    }
    let homes = homes::collect(common.home_limit).map_err(|error| {
        Failure::new(Exit::Failed, format!("the homes of commands cannot be listed: {error}"))
    })?;
    if !console.json {
        say_homes(console, &homes);
    }
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        console.notice("nothing is kept here");
        return Ok(Exit::Done);
    }
    let cancel = cancel_flag()?;
    let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), false)?;
    let report = sessions.call(&CollectGarbage { limit_bytes }, &cancel)?;
    if console.json {
        console.json_result(&Report { contents: report, homes: homes.into() });
    } else {
        say(console, &report);
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[serde(flatten)]
    contents: Collected,
    homes: Homes,
}

/// The homes of commands, of all workspaces of the user.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Homes {
    kept: u64,
    kept_bytes: u64,
    removed: u64,
    removed_bytes: u64,
    in_use: u64,
}

impl From<HomeSize> for Homes {
    fn from(size: HomeSize) -> Homes {
        Homes {
            kept: size.homes,
            kept_bytes: size.bytes,
            removed: size.homes_removed,
            removed_bytes: size.bytes_removed,
            in_use: size.in_use,
        }
    }
}

fn say_homes(console: Console, size: &HomeSize) {
    console.result(&format!(
        "homes of commands: {} removed ({} bytes removed in all), {} kept ({} bytes)",
        size.homes_removed, size.bytes_removed, size.homes, size.bytes
    ));
    if size.in_use > 0 {
        console.result(&format!("  {} in use and left alone", size.in_use));
    }
}

fn say(console: Console, report: &Collected) {
    let Collected { contents_removed, contents_bytes, changes_not_undoable, .. } = report;
    console.result(&format!("contents of files: {contents_removed} removed ({contents_bytes} bytes)"));
    if *changes_not_undoable > 0 {
        console.result(&format!(
            "  {} can no longer be undone",
            counted(usize::try_from(*changes_not_undoable).unwrap_or(usize::MAX), "change")
        ));
    }
    console.result(&format!(
        "stray files of the journal: {} removed ({} bytes)",
        report.stray_files_removed, report.stray_files_bytes
    ));
    if report.stray_files_kept > 0 {
        console.result(&format!(
            "  {} ({} bytes) kept for a quarantined database; once you have removed `journal/journal.db.damaged-*` from the \
             state folder, `agentd gc` removes these, too",
            counted(usize::try_from(report.stray_files_kept).unwrap_or(usize::MAX), "file"),
            report.stray_files_kept_bytes
        ));
    }
    console.result(&format!(
        "outputs of commands: {} removed ({} bytes)",
        report.outputs_removed, report.outputs_bytes
    ));
    console.result(&format!("the database is {} bytes smaller", report.database_bytes_freed));
    console.result(&format!("{} bytes of contents are kept", report.kept_bytes));
}
