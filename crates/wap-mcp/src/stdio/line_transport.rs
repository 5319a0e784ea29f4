//! Messages as lines of JSON: read by the SDK, written in one piece or, if large, in a few.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter};
use rustix::pipe::fcntl_setpipe_size;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, oneshot};

use crate::stdio::bounded_lines::BoundedLines;
use crate::stdio::rendering::Rendering;
use crate::tasks::{OlderLines, for_older_client};

/// The client at the other end of standard input and output.
///
/// The SDK's transport writes each run of characters between two escapes separately, tens of thousands in a large text; see
/// [`Rendering`] for the alternative.
pub(crate) struct LineTransport {
    incoming: AsyncRwTransport<RoleServer, OlderLines<BoundedLines<StdioReader, OnCut>>, Replies>,
    output: Output,
    offers_tasks: bool,
}

/// The largest buffer that is kept for the next message. Allocating one costs as much as rendering into it.
const KEPT_BUFFER_BYTES: usize = 4 << 20;

/// The size of a pipe for large answers: the most that the system grants every user. Otherwise, writer and reader wake each other
/// up some twenty times per megabyte.
const WIDE_PIPE_BYTES: usize = 1 << 20;

/// Answers a line that was cut.
type OnCut = Box<dyn FnMut() + Send>;

/// The answer to a line with too many values. Its request is unknown without parsing it.
const TOO_MANY_VALUES: &[u8] =
    br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message has too many values: send it in parts"}}"#;

/// The output for whole lines, one after another; `None` once the transport is closed.
type Output = Arc<Mutex<Option<Lines>>>;

struct Lines {
    output: StdioWriter,
    /// The buffer for rendering messages.
    buffer: Vec<u8>,
    /// Signals that the first message is written; `None` after that.
    first_written: Option<oneshot::Sender<()>>,
    /// True once the pipe was enlarged, or cannot be.
    is_wide: bool,
}

impl LineTransport {
    /// Returns a transport that leaves out lines longer than `most_line_bytes`, and answers a line with too many values
    /// with an error. `first_written` is signalled once the first message is written.
    pub(crate) fn new(
        input: StdioReader,
        output: StdioWriter,
        most_line_bytes: usize,
        offers_tasks: bool,
        first_written: oneshot::Sender<()>,
    ) -> LineTransport {
        let lines = Lines { output, buffer: Vec::new(), first_written: Some(first_written), is_wide: false };
        let output = Arc::new(Mutex::new(Some(lines)));
        let replies = Replies { output: Arc::clone(&output), line: Vec::new(), sending: None };
        let for_cut = Arc::clone(&output);
        let on_cut: OnCut = Box::new(move || {
            // Use a separate task: the reader must not wait for a client that does not read its answers.
            tokio::spawn(write(Arc::clone(&for_cut), Ok(Rendering::from(TOO_MANY_VALUES))));
        });
        let input = OlderLines::new(BoundedLines::new(input, on_cut));
        let incoming = AsyncRwTransport::new(input, replies).with_max_line_length(most_line_bytes);
        LineTransport { incoming, output, offers_tasks }
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let message = if self.offers_tasks { for_older_client(message) } else { message };
        write(Arc::clone(&self.output), Rendering::of(message))
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleServer>>> + Send {
        self.incoming.receive()
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close().await?;
        // Answers of running calls find the output closed, and are dropped.
        drop(self.output.lock().await.take());
        Ok(())
    }
}

/// The replies of the reading side to lines that are not messages. Each is buffered until it is complete, so that it does not
/// interleave with another line.
struct Replies {
    output: Output,
    line: Vec<u8>,
    sending: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
}

impl AsyncWrite for Replies {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.line.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = ready!(sending.as_mut().poll(context));
                self.sending = None;
                sent?;
            }
            if self.line.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let mut line = std::mem::take(&mut self.line);
            // `write` adds the newline.
            line.pop_if(|byte| *byte == b'\n');
            self.sending = Some(Box::pin(write(Arc::clone(&self.output), Ok(Rendering::from(&line[..])))));
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

/// Writes a message after the previous ones. A large one is written while it is rendered, so that the client can already read its
/// beginning.
async fn write(output: Output, message: serde_json::Result<Rendering>) -> io::Result<()> {
    let mut message = message?;
    let mut lines = output.lock().await;
    // Hold the lock until the flush, so that no other line interleaves with this one.
    let Some(Lines { output, buffer, first_written, is_wide }) = &mut *lines else {
        return Err(io::ErrorKind::NotConnected.into());
    };
    buffer.clear();
    let mut written = 0;
    while message.render_piece(buffer) {
        if !*is_wide {
            // Not a pipe, or the user already has too many large ones: leave it unchanged.
            let _ = fcntl_setpipe_size(io::stdout(), WIDE_PIPE_BYTES);
            *is_wide = true;
        }
        // The output takes the remainder at the end.
        let attempt =
            Pin::new(&mut *output).poll_write(&mut Context::from_waker(Waker::noop()), &buffer[written..]);
        if let Poll::Ready(taken) = attempt {
            written += taken?;
        }
        if written == buffer.len() {
            // Reuse the memory for the next piece, since it is in the processor's cache.
            buffer.clear();
            written = 0;
        }
    }
    buffer.push(b'\n');
    output.write_all(&buffer[written..]).await?;
    output.flush().await?;
    if let Some(first_written) = first_written.take() {
        // Without a receiver, the preparation has already started.
        let _ = first_written.send(());
    }
    if buffer.capacity() > KEPT_BUFFER_BYTES {
        *buffer = Vec::new();
    }
    Ok(())
}
