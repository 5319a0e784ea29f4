//! Threads of requests, so that a call can be cancelled while its request waits for the daemon.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use wap_core::{CancelFlag, IndexError};

/// The most requests that wait for the daemon at the same time, including those of cancelled calls. Each holds a thread, a
/// connection, and up to a whole answer.
const MOST_REQUESTS: usize = 32;

/// The threads of running requests; each holds one of the counted references.
#[derive(Debug, Default)]
pub(super) struct RequestThreads {
    running: Arc<()>,
}

impl RequestThreads {
    /// Runs a request and returns its answer, or [`IndexError::Cancelled`] once the call is cancelled: the request then
    /// ends by itself.
    pub(super) fn run<T: Send + 'static>(
        &self,
        cancel: &CancelFlag,
        request: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexError> {
        let running = Arc::clone(&self.running);
        // The index holds the first reference.
        if Arc::strong_count(&running) > MOST_REQUESTS + 1 {
            let cause = "too many requests wait for the docdex daemon; try again later".to_owned();
            return Err(IndexError::Failed { cause });
        }
        // The channel has room for both messages, so that neither sender waits.
        let (send, receive) = mpsc::sync_channel(2);
        let answer = send.clone();
        let _guard = cancel.on_cancel(Box::new(move || drop(send.try_send(Err(IndexError::Cancelled)))));
        let worker = thread::Builder::new().name("docdex-request".to_owned());
        let spawned = worker.spawn(move || {
            let (_running, ended) = (running, Ended(answer));
            let _ = ended.0.try_send(request());
        });
        if spawned.is_err() {
            return Err(IndexError::Failed {
                cause: "the system has no thread left for a request".to_owned(),
            });
        }
        receive.recv().unwrap_or(Err(IndexError::Unreachable))
    }
}

/// Sends the final message when a request ends, also by a panic: the cancellation's sender keeps the channel open.
struct Ended<T>(SyncSender<Result<T, IndexError>>);

impl<T> Drop for Ended<T> {
    fn drop(&mut self) {
        let _ = self.0.try_send(Err(IndexError::Unreachable));
    }
}
