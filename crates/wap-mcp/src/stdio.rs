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

/// Serves the client at standard input and output until it is gone, or `interrupted` is notified.
///
/// # Errors
///
/// Those of starting a runtime.
pub fn serve_stdio(server: McpServer, interrupted: &Arc<Notify>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let most = usize::try_from(Limits::MAX_MESSAGE_BYTES).unwrap_or(usize::MAX);
        let transport = LineTransport::new(input, output, most, server.offers_tasks());
        let serving = async {
            // An error means that the client is gone, also one that has never sent a message.
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
    // A pending read of standard input cannot be interrupted, and must not keep the process alive.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}
