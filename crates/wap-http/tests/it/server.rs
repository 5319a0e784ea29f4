//! A server for a workspace in memory, on a separate thread.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use memory_workspace::MemoryWorkspace;
use wap_calls::CallPool;
use wap_core::CancelFlag;
use wap_http::{BearerToken, Guard, HttpConfig, Metrics, Shutdown, SideRuntime, Sockets, router, serve};
use wap_mcp::{McpConfig, ServerName};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shutdown: Shutdown,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves `hello.txt` until it is dropped.
    pub(crate) fn start(token: Option<&str>) -> Server {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let token = token.map(|token| BearerToken::new(token).unwrap());
        let shutdown = Shutdown::default();
        let stopped = shutdown.clone();
        let thread = thread::spawn(move || {
            let (metrics, sockets) = (Arc::new(Metrics::default()), Sockets::default());
            let side = SideRuntime::start("mcp").unwrap();
            let router = router(HttpConfig {
                workspace: Arc::new(MemoryWorkspace::with_files([("hello.txt", "Hello!\n")])),
                pool: CallPool::new(),
                guard: Guard::new(token, address, &[], &metrics),
                metrics: Arc::clone(&metrics),
                index: Arc::new(|| None),
                mcp: McpConfig::new(ServerName { name: "test", title: "A test", version: "1" }),
                mcp_runtime: side.handle(),
                root: "/memory".to_owned(),
                stop: CancelFlag::new(),
                sockets: sockets.clone(),
                llm4s_prefix: None,
            });
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                serve(listener, router, 64, metrics, &sockets, stopped).await.unwrap();
            });
        });
        Server { address, shutdown, thread: Some(thread) }
    }

    /// Sends a complete request and returns the complete answer.
    pub(crate) fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that refuses early may reset the connection after its answer.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
