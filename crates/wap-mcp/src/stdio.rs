//! MCP over standard input and output.

pub(crate) mod bounded_lines;
pub(crate) mod line_transport;
pub(crate) mod rendering;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;
use wap_core::Limits;

use crate::McpServer;
use crate::stdio::line_transport::LineTransport;

/// The longest time that the preparation waits for the first answer.
const FIRST_ANSWER: Duration = Duration::from_millis(200);

/// Serves the client at standard input and output until it disconnects, or `interrupted` is notified.
///
/// `prepare` is called once, to prepare for later answers: after the first answer, so as not to delay it, or soon if the client
/// sends no request. It runs on the serving thread and must not block.
///
/// # Errors
///
/// Those of starting a runtime.
pub fn serve_stdio(
    server: McpServer,
    interrupted: &Arc<Notify>,
    prepare: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let most = usize::try_from(Limits::MAX_MESSAGE_BYTES).unwrap_or(usize::MAX);
        let (first_written, answered) = oneshot::channel();
        let transport = LineTransport::new(input, output, most, server.offers_tasks(), first_written);
        tokio::spawn(async move {
            // Start it in any case, even after a timeout.
            let _ = timeout(FIRST_ANSWER, answered).await;
            prepare();
        });
        let serving = async {
            // An error means that the client is gone, possibly without having sent a message.
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
