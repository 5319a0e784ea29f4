//! `agentd ui`: the page, for one person at this machine.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use wap_core::CancelFlag;
use wap_http::{Guard, HostName, Metrics, Shutdown, Sockets};
use web_ui::{Access, Page, PageConfig};
use workspace_host::{OwnPrograms, SharedWorkspace, WorkspacePaths};

use super::browser;
use super::page_program::PageProgram;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::config::ConfigFile;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// The address without a choice of the user. If it is in use, a free port is taken.
const USUAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7412);

/// The most connections: each open page holds one, and a few more while it reads.
const MOST_CONNECTIONS: usize = 512;

/// Options of the page.
#[derive(Clone, Debug, Args)]
pub(crate) struct UiOptions {
    /// The address and port to listen on, on this machine only [default: 127.0.0.1:7412, or a free port if that is in use].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Start no browser.
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Serialize)]
struct Listening<'a> {
    url: &'a str,
}

/// Serves the page until a signal stops it.
pub(crate) fn ui(
    common: &CommonOptions,
    config: &ConfigFile,
    console: Console,
    options: &UiOptions,
) -> Outcome {
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host())?;
    let failed = |error: io::Error| Failure::new(Exit::Failed, format!("cannot serve the page: {error}"));
    let listener = listen(options.listen)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let workspace = Arc::new(SharedWorkspace::staying(&common.host(), &paths, &console.shared()));
    let metrics = Arc::new(Metrics::default());
    let guard = Arc::new(Guard::new(None, address, &[] as &[HostName], &metrics));
    let access = Arc::new(Access::new(address.port()));
    let program = PageProgram::new(common, config, console, &paths, "agentd ui");
    let page = page(program, common, &paths, &workspace, &access, &guard, address, &cancel);
    let router = web_ui::site(Arc::clone(&page));
    let shutdown = Shutdown::default();
    let (stopping, ending) = (shutdown.clone(), Arc::clone(&page));
    let _guard = cancel.on_cancel(Box::new(move || {
        ending.end();
        stopping.stop();
    }));
    let (sender, failure) = channel();
    let (begun, stopping) = (Arc::clone(&page), shutdown.clone());
    let programs = (!options.no_open).then(|| common.own_programs());
    let open = move || match begun.begin() {
        Ok(()) => announce(console, &page_url(address), &access, programs.as_ref()),
        Err(failure) => {
            let _ = sender.send(failure);
            stopping.stop();
        }
    };
    thread::Builder::new().name("opening".to_owned()).spawn(open).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        wap_http::serve(listener, router, MOST_CONNECTIONS, metrics, &Sockets::default(), shutdown).await
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    if let Ok(failure) = failure.try_recv() {
        return Err(failure);
    }
    workspace.leave(&cancel);
    served.map_err(failed)?;
    Ok(Exit::Interrupted)
}

/// Returns the address of the page, apart from a code.
pub(super) fn page_url(address: SocketAddr) -> String {
    format!("http://{address}/ui/")
}

/// Puts the page of a server together.
#[expect(clippy::too_many_arguments, reason = "each is a part of the server that its caller has made")]
pub(super) fn page(
    program: PageProgram,
    common: &CommonOptions,
    paths: &WorkspacePaths,
    workspace: &Arc<SharedWorkspace>,
    access: &Arc<Access>,
    guard: &Arc<Guard>,
    address: SocketAddr,
    stop: &CancelFlag,
) -> Arc<Page> {
    Page::new(PageConfig {
        workspace: Arc::clone(workspace),
        paths: paths.clone(),
        options: common.host(),
        host: Arc::new(program),
        access: Arc::clone(access),
        guard: Arc::clone(guard),
        url: page_url(address),
        version: env!("CARGO_PKG_VERSION"),
        stop: stop.clone(),
    })
}

/// Listens on the wanted address, or on the usual one.
fn listen(wanted: Option<SocketAddr>) -> Result<TcpListener, Failure> {
    let address = wanted.unwrap_or(USUAL);
    if !address.ip().is_loopback() {
        return Err(Failure::new(Exit::Refused, "the page is for this machine only")
            .advise("listen on 127.0.0.1; from another machine, forward the port over ssh"));
    }
    let failed = |error: io::Error| {
        Failure::new(Exit::Failed, format!("cannot listen on {address}: {error}"))
            .advise("choose another address with --listen ADDRESS:PORT; port 0 takes a free one")
    };
    match TcpListener::bind(address) {
        Err(error) if wanted.is_none() && error.kind() == io::ErrorKind::AddrInUse => {
            TcpListener::bind(SocketAddr::new(address.ip(), 0)).map_err(failed)
        }
        bound => bound.map_err(failed),
    }
}

/// Prints the address with a code, and opens it with one of the `programs` where there is a desktop.
fn announce(console: Console, url: &str, access: &Access, programs: Option<&OwnPrograms>) {
    let url = format!("{url}#code={}", access.code());
    if console.json {
        console.json_result(&Listening { url: &url });
    } else {
        console.result(&format!("the page is at {url}"));
        let minutes = web_ui::CODE_LIFETIME.as_secs() / 60;
        console.progress(&format!("the address works once, within {minutes} minutes; Ctrl-C ends the page"));
    }
    let Some(programs) = programs.filter(|_| !console.json && has_desktop()) else { return };
    if !browser::open(programs, &url) {
        console.notice("no browser could be started: open the address yourself");
    }
}

fn has_desktop() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}
