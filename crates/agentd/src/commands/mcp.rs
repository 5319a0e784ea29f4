//! `agentd mcp`: the workspace tools over MCP on standard input and output.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

use crate::cli::{Common, McpOptions};
use crate::commands::session::cancel_flag;
use crate::exit::{Exit, Failure, Outcome};
use crate::mcp::{CodeTools, McpConfig, McpServer, RecentOutputs, serve_stdio};
use crate::views::console::Console;
use workspace_host::CallPool;
use workspace_host::Client;
use workspace_host::Places;
use workspace_host::SharedWorkspace;
use workspace_host::state::check_unconfined;

/// How long calls that were begun may take when the client is gone.
const PARTING: Duration = Duration::from_secs(60);

/// Serves the client at standard input and output until it is gone.
pub(crate) fn mcp(common: &Common, console: Console, options: &McpOptions) -> Outcome {
    let cancel = cancel_flag()?;
    let places = Places::find(&common.host())?;
    check_unconfined(&common.host(), &places)?;
    let workspace = Arc::new(SharedWorkspace::staying(&common.host(), &places, &console.shared()));
    // The client is answered at once; the workspace is ready when the first call needs it, and if it cannot be had,
    // that call says so.
    let opening = Arc::clone(&workspace);
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, format!("cannot serve: {error}"));
    let config = Arc::new(config(options, common, &places, console, &workspace));
    let code = Arc::clone(&config.code);
    thread::Builder::new()
        .name("opening".to_owned())
        .spawn(move || match opening.open() {
            Ok(()) => code.begin(),
            Err(failure) => console.notice(&format!("agentd: {}", failure.message)),
        })
        .map_err(failed)?;
    let client = Client::new("mcp", &workspace, &CallPool::new());
    let server = McpServer::new(&config, Arc::clone(&client), &Arc::new(RecentOutputs::default()));
    let interrupted = Arc::new(Notify::new());
    let told = Arc::clone(&interrupted);
    let _guard = cancel.on_cancel(Box::new(move || told.notify_one()));
    serve_stdio(server, &interrupted).map_err(failed)?;
    client.cancel_all();
    client.wait_until_idle(PARTING);
    config.code.end();
    workspace.leave(&cancel);
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// What the command line says about the server.
pub(crate) fn config(
    options: &McpOptions,
    common: &Common,
    places: &Places,
    console: Console,
    workspace: &Arc<SharedWorkspace>,
) -> McpConfig {
    McpConfig {
        wap_json: options.wap_json,
        extra_tools: options.tools.clone(),
        page: options.page,
        places: places.clone(),
        code: Arc::new(CodeTools::new(common, places, console, workspace, &options.tools)),
    }
}
