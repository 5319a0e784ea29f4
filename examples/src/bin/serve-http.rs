//! Serves a workspace in memory over HTTP on a free port of this machine, with MCP at `/mcp`, without a token.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;

use memory_workspace::MemoryWorkspace;
use wap_calls::CallPool;
use wap_core::CancelFlag;
use wap_http::{Guard, HttpConfig, Metrics, Shutdown, SideRuntime, Sockets, router, serve};
use wap_mcp::{McpConfig, ServerName};

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let (address, metrics, sockets) =
        (listener.local_addr()?, Arc::new(Metrics::default()), Sockets::default());
    let side = SideRuntime::start("mcp")?;
    let router = router(HttpConfig {
        workspace: Arc::new(MemoryWorkspace::with_files([("hello.txt", "Hello!\n")])),
        pool: CallPool::new(),
        guard: Guard::new(None, address, &[], &metrics),
        metrics: Arc::clone(&metrics),
        index: Arc::new(|| None),
        mcp: McpConfig::new(ServerName { name: "serve-http", title: "A workspace in memory", version: "1" }),
        mcp_runtime: side.handle(),
        root: "/memory".to_owned(),
        stop: CancelFlag::new(),
        sockets: sockets.clone(),
        llm4s_prefix: None,
    });
    println!("listening on http://{address}");
    runtime.block_on(serve(listener, router, 64, metrics, &sockets, Shutdown::default()))?;
    Ok(())
}
