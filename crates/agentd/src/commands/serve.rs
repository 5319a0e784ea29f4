//! `agentd serve`: the workspace tools over HTTP; and the other servers.

mod browser;
pub(crate) mod mcp;
mod page_program;
pub(crate) mod ui;
pub(crate) mod wap;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use wap_calls::CallPool;
use wap_http::{
    BearerToken, Guard, HttpConfig, IndexFigures, Metrics, Shutdown, SideRuntime, Sockets, TokenError,
    default_token_file,
};
use wap_http::{HostName, WorkspacePrefix};
use web_ui::Access;
use workspace_host::SecretRules;
use workspace_host::SharedWorkspace;
use workspace_host::WorkspacePaths;
use workspace_host::state::check_unconfined;
use workspace_index::ServedIndex;

use self::page_program::PageProgram;
use crate::commands::serve::mcp::McpOptions;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::config::ConfigFile;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// Options of serving HTTP clients.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeOptions {
    /// The address and port to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7411")]
    pub listen: SocketAddr,
    /// The file with the bearer token, made if it is not there [default: in the user's state directory].
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    pub token_file: Option<PathBuf>,
    /// Ask for no token; on addresses of this machine only.
    #[arg(long)]
    pub no_token: bool,
    /// Another name of this server's host.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<HostName>,
    /// The path by which clients of llm4s know the workspace; /workspace if it is not named.
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, default_missing_value = "/workspace")]
    pub llm4s_workspace: Option<WorkspacePrefix>,
    #[command(flatten)]
    pub mcp: McpOptions,
}

/// The most connections, if the system allows as many open files.
const MOST_CONNECTIONS: u64 = 4_096;

/// Files that everything else may need.
const OTHER_FILES: u64 = 256;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listening {
    url: String,
    /// The address of the page with a code, which works once.
    page: String,
    token_file: Option<String>,
}

/// Serves until a signal stops it.
pub(crate) fn serve(
    common: &CommonOptions,
    config: &ConfigFile,
    console: Console,
    options: &ServeOptions,
) -> Outcome {
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host())?;
    check_unconfined(&common.host(), &paths)?;
    let rules = SecretRules::open(&common.host(), &paths)?;
    let (token, token_file) = token(options, console)?;
    let listener = listen(options.listen)?;
    let address = listener.local_addr().map_err(serve_failure)?;
    let workspace = Arc::new(SharedWorkspace::staying(&common.host(), &paths, &console.shared()));
    let metrics = Arc::new(Metrics::default());
    let sockets = Sockets::default();
    let mcp_runtime = SideRuntime::start("mcp").map_err(serve_failure)?;
    let code = Arc::new(ServedIndex::new(
        &common.host(),
        &paths,
        &console.shared(),
        &workspace,
        options.mcp.offers_the_code_index(),
    ));
    // Without the token: clients have the rights of a model, and the page is for a person, who enters it by a code.
    let page_guard = Arc::new(Guard::new(None, address, &options.allow_host, &metrics));
    let access = Arc::new(Access::new(address.port()));
    let program = PageProgram::new(common, config, console, &paths, "agentd serve");
    let page = ui::page(program, common, &paths, &workspace, &access, &page_guard, address, &cancel);
    let mcp = mcp::config(&options.mcp, &paths, &workspace, &code, &rules);
    let reported = Arc::clone(&workspace);
    let router = wap_http::router(HttpConfig {
        workspace: mcp::served(&workspace, &options.mcp, &rules, "http"),
        index: Arc::new(move || index_figures(&reported)),
        pool: CallPool::new(),
        guard: Guard::new(token, address, &options.allow_host, &metrics),
        metrics: Arc::clone(&metrics),
        mcp,
        mcp_runtime: mcp_runtime.handle(),
        root: paths.workspace.display().to_string(),
        stop: cancel.clone(),
        sockets: sockets.clone(),
        llm4s_prefix: options.llm4s_workspace.clone(),
    })
    .merge(web_ui::router(Arc::clone(&page)));
    let shutdown = Shutdown::default();
    let (stopping, ending) = (shutdown.clone(), Arc::clone(&page));
    let _guard = cancel.on_cancel(Box::new(move || {
        ending.end();
        stopping.stop();
    }));
    // Opening the workspace can take long, and health checks must be answered meanwhile. Calls wait for it; if it fails,
    // the server ends.
    let (sender, failure) = channel();
    let (opening, beginning, stopping) = (Arc::clone(&workspace), Arc::clone(&code), shutdown.clone());
    let open = move || match opening.open().and_then(|()| page.begin()) {
        Ok(()) => {
            announce(console, address, token_file, &access);
            beginning.begin();
        }
        Err(failure) => {
            let _ = sender.send(failure);
            stopping.stop();
        }
    };
    thread::Builder::new().name("opening".to_owned()).spawn(open).map_err(serve_failure)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(serve_failure)?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        wap_http::serve(listener, router, most_connections(), metrics, &sockets, shutdown).await
    });
    // A body that is still being parsed cannot be cancelled, and must not delay the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(mcp_runtime);
    if let Ok(failure) = failure.try_recv() {
        return Err(failure);
    }
    // The index follows the feed of the workspace, so it ends first.
    code.end();
    workspace.leave(&cancel);
    served.map_err(serve_failure)?;
    Ok(Exit::Interrupted)
}

/// Returns the token that clients have to show, if they need one, and the path of its file.
fn token(options: &ServeOptions, console: Console) -> Result<(Option<BearerToken>, Option<String>), Failure> {
    if !options.no_token {
        let file = options.token_file.clone().map_or_else(default_token_file, Ok).map_err(token_failure)?;
        let token = BearerToken::read_or_make(&file).map_err(token_failure)?;
        return Ok((Some(token), Some(file.display().to_string())));
    }
    if !options.listen.ip().is_loopback() {
        return Err(Failure::new(Exit::Refused, "--no-token is for addresses of this machine only")
            .advise("listen on 127.0.0.1, or leave --no-token out"));
    }
    console
        .notice("without a token, every program and user of this machine may run commands in the workspace");
    Ok((None, None))
}

fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).map_err(|error| {
        Failure::new(Exit::Failed, format!("cannot listen on {address}: {error}"))
            .advise("choose another address with --listen ADDRESS:PORT; port 0 takes a free one")
    })?;
    listener.set_nonblocking(true).map_err(serve_failure)?;
    Ok(listener)
}

fn serve_failure(error: io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("cannot serve: {error}"))
}

fn index_figures(workspace: &SharedWorkspace) -> Option<IndexFigures> {
    let report = workspace.index_report()?;
    Some(IndexFigures {
        files: report.files,
        unread: report.unread,
        memory_bytes: report.memory_bytes,
        memory_limit_bytes: report.memory_limit_bytes,
    })
}

fn token_failure(error: TokenError) -> Failure {
    let (exit, advice) = match error {
        TokenError::Unusable { .. } => (Exit::Failed, "name another one with --token-file FILE"),
        TokenError::Invalid { .. } => (Exit::Usage, "remove the file, and a new one is made"),
        TokenError::NoHome => (Exit::Usage, "name a file for it with --token-file FILE"),
    };
    Failure::new(exit, error.to_string()).advise(advice)
}

fn announce(console: Console, address: SocketAddr, token_file: Option<String>, access: &Access) {
    let url = format!("http://{address}");
    let page = format!("{}#code={}", ui::page_url(address), access.code());
    if console.json {
        console.json_result(&Listening { url, page, token_file });
        return;
    }
    console.result(&format!("listening on {url}"));
    console.progress(&format!("the page is at {page}"));
    if let Some(file) = token_file {
        console.progress(&format!("the token is in {file}"));
    }
}

/// Raises the limit of open files as far as allowed, and says how many connections fit.
fn most_connections() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = MOST_CONNECTIONS + OTHER_FILES;
    let allowed = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let mut files = current.unwrap_or(wanted);
    if files < allowed && setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum }).is_ok() {
        files = allowed;
    }
    usize::try_from(files.saturating_sub(OTHER_FILES).clamp(16, MOST_CONNECTIONS)).unwrap_or(16)
}
