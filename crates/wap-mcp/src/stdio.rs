//! MCP over standard input and output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;
use tokio::sync::Notify;
use wap_core::Limits;

use crate::McpServer;
use crate::line_transport::LineTransport;

/// Serves the client at standard input and output until it disconnects or `interrupted` is notified.
pub fn serve_stdio(server: McpServer, interrupted: &Arc<Notify>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let most = usize::try_from(Limits::MAX_MESSAGE_BYTES).unwrap_or(usize::MAX);
        let transport = LineTransport::new(input, output, most);
        let serving = async {
            // An error here means a client that left, perhaps before its first message; neither is a failure of the server.
            if let Ok(service) = server.serve(transport).await {
                let _ = service.waiting().await;
            }
        };
        tokio::select! {
            () = serving => {}
            () = interrupted.notified() => {}
        }
        Ok(())
    });
    // A blocked read of standard input cannot be cancelled, and must not keep the process alive.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}
