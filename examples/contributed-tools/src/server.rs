//! The server of the example.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use memory_workspace::MemoryWorkspace;
use tokio::sync::oneshot;
use wap_calls::CallPool;
use wap_core::CancelFlag;
use wap_http::{Guard, HttpConfig, Metrics, Shutdown, SideRuntime, Sockets, router, serve};
use wap_mcp::{Contributions, McpConfig, ServerName};

use crate::ExampleContribution;

/// A server on a free port of this machine, with MCP at `/mcp`; it ends when it is dropped.
#[derive(Debug)]
pub struct ExampleServer {
    address: SocketAddr,
    ending: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl ExampleServer {
    /// Starts the server.
    ///
    /// # Errors
    ///
    /// Those of opening a port and of starting a runtime.
    pub fn start() -> Result<ExampleServer, Box<dyn Error>> {
        let (ending, ended) = oneshot::channel();
        let (started, starting) = mpsc::channel();
        let serving = std::thread::spawn(move || {
            let failed = run(&started, ended);
            if let Err(error) = failed {
                // Without a receiver the server has started, and has failed later.
                let _ = started.send(Err(error.to_string()));
            }
        });
        let address = starting.recv()??;
        Ok(ExampleServer { address, ending: Some(ending), serving: Some(serving) })
    }

    /// Returns the address at which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        if let Some(serving) = self.serving.take() {
            // A panic of the server has been printed already.
            let _ = serving.join();
        }
    }
}

impl Drop for ExampleServer {
    fn drop(&mut self) {
        drop(self.ending.take());
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

fn run(
    started: &mpsc::Sender<Result<SocketAddr, String>>,
    ended: oneshot::Receiver<()>,
) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let (metrics, sockets) = (Arc::new(Metrics::default()), Sockets::default());
    let side = SideRuntime::start("mcp")?;
    let name = ServerName { name: "contributed-tools", title: "Tools of its own", version: "1" };
    let mcp = McpConfig {
        contributions: Contributions::new(vec![Arc::new(ExampleContribution::default())]),
        ..McpConfig::new(name)
    };
    let router = router(HttpConfig {
        workspace: Arc::new(MemoryWorkspace::with_files([("hello.txt", "Hello!\n")])),
        pool: CallPool::new(),
        guard: Guard::new(None, address, &[], &metrics),
        metrics: Arc::clone(&metrics),
        index: Arc::new(|| None),
        mcp,
        mcp_runtime: side.handle(),
        root: "/memory".to_owned(),
        stop: CancelFlag::new(),
        sockets: sockets.clone(),
        llm4s_prefix: None,
    });
    // Without a receiver the starter is gone, and so is the sender that `ended` waits for.
    let _ = started.send(Ok(address));
    runtime.block_on(async {
        tokio::select! {
            served = serve(listener, router, 64, metrics, &sockets, Shutdown::default()) => served,
            _ = ended => Ok(()),
        }
    })?;
    Ok(())
}
