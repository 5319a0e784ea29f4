//! `agentd log`: the runs of the journal.

use workspace_host::{WorkspacePaths, log_text};

use crate::common_options::CommonOptions;
use crate::exit::{Exit, Outcome};
use crate::views::console::Console;

/// Lists runs with their steps and changes, newest first.
pub(crate) fn log(common: &CommonOptions, console: Console, limit: u32, all: bool) -> Outcome {
    let runs = workspace_host::log(&WorkspacePaths::find(&common.host())?, limit, !all)?;
    if console.json {
        console.json_result(&runs);
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        console.notice("nothing was done here yet");
    }
    for line in log_text(&runs) {
        console.result(&line);
    }
    Ok(Exit::Done)
}
