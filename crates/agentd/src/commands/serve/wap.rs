//! `agentd wap`: the workspace tools over JSON-RPC 2.0, one message a line on standard input and output.

use std::io::{self, BufReader};
use std::sync::Arc;

use wap_core::Workspace;
use workspace_host::state::check_unconfined;
use workspace_host::{
    LinesEnd, ReviewPolicy, ReviewedWorkspace, SecretRules, SharedWorkspace, WorkspacePaths, serve_json_lines,
};

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// Serves the client at standard input and output until it is gone.
pub(crate) fn wap(common: &CommonOptions, console: Console, review: ReviewPolicy) -> Outcome {
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host())?;
    check_unconfined(&common.host(), &paths)?;
    let rules = SecretRules::open(&common.host(), &paths)?;
    let workspace = Arc::new(SharedWorkspace::staying(&common.host(), &paths, &console.shared()));
    workspace.open()?;
    let served: Arc<dyn Workspace> = match review {
        ReviewPolicy::None => Arc::new(rules.over(Arc::clone(&workspace))),
        policy => Arc::new(rules.over(ReviewedWorkspace::new(Arc::clone(&workspace), policy, "wap"))),
    };
    let root = paths.workspace.display().to_string();
    let end = serve_json_lines(&served, root, BufReader::new(io::stdin()), io::stdout(), &cancel)
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start a thread: {error}")))?;
    workspace.leave(&cancel);
    match end {
        LinesEnd::Input => Ok(Exit::Done),
        LinesEnd::Cancelled => Ok(Exit::Interrupted),
        LinesEnd::Broken(error) => {
            Err(Failure::new(Exit::Failed, format!("standard input or output failed: {error}")))
        }
    }
}
