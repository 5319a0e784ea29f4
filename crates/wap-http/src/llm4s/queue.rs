//! The queue of messages to send on a WebSocket. It is bounded: the server does not wait for a client that does not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The number of waiting bytes beyond which command output is dropped.
const MOST_OUTPUT_BYTES: usize = 4 << 20;

/// The number of waiting bytes beyond which answers cannot be kept either: the connection is closed.
const MOST_BYTES: usize = 32 << 20;

/// A message to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Text(String),
    /// The close, with its code and text; nothing is sent after it.
    Close(u16, &'static str),
}

/// The sending end. Clones share it; threads and tasks alike use it, and it never waits.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    sender: UnboundedSender<Sent>,
    shared: Arc<Shared>,
}

/// The receiving end.
#[derive(Debug)]
pub(crate) struct Waiting {
    receiver: UnboundedReceiver<Sent>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    bytes: AtomicUsize,
    is_broken: AtomicBool,
    broken: Notify,
}

/// Returns both ends of an empty queue.
pub(crate) fn queue() -> (Queue, Waiting) {
    let (sender, receiver) = unbounded_channel();
    let shared = Arc::new(Shared::default());
    (Queue { sender, shared: Arc::clone(&shared) }, Waiting { receiver, shared })
}

impl Queue {
    /// Checks whether a piece of output may be queued.
    pub(crate) fn has_room(&self) -> bool {
        self.shared.bytes.load(Ordering::Relaxed) < MOST_OUTPUT_BYTES
    }

    pub(crate) fn send(&self, text: String) {
        if self.shared.is_broken.load(Ordering::Relaxed) {
            return;
        }
        // Relaxed: the counter is only compared with bounds, and the channel orders the messages themselves.
        let before = self.shared.bytes.fetch_add(text.len(), Ordering::Relaxed);
        if before > MOST_BYTES {
            return self.shared.give_up();
        }
        // Without a receiver, the connection has ended and no client waits for the message.
        let _ = self.sender.send(Sent::Text(text));
    }

    pub(crate) fn close(&self, code: u16, text: &'static str) {
        let _ = self.sender.send(Sent::Close(code, text));
    }

    /// Returns once the client has failed to read its messages.
    pub(crate) async fn broken(&self) {
        self.shared.broken.notified().await;
    }
}

impl Waiting {
    /// Returns the next message; its bytes count until [`Waiting::is_sent`].
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        self.receiver.recv().await
    }

    pub(crate) fn is_sent(&self, bytes: usize) {
        self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Gives up the connection, because the client does not read its messages.
    pub(crate) fn give_up(&self) {
        self.shared.give_up();
    }
}

impl Shared {
    fn give_up(&self) {
        // Later messages are dropped: without the missing ones the client could not understand them.
        self.is_broken.store(true, Ordering::Relaxed);
        self.broken.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, MOST_OUTPUT_BYTES, Sent, queue};

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async { tokio::time::timeout(std::time::Duration::ZERO, future).await.ok() })
    }

    #[test]
    fn output_has_room_again_when_waiting_messages_are_sent() {
        let (queue, mut waiting) = queue();
        queue.send("x".repeat(MOST_OUTPUT_BYTES));
        assert!(!queue.has_room());
        let Some(Some(Sent::Text(text))) = now(waiting.next()) else { panic!("nothing waits") };
        assert!(!queue.has_room(), "it is not sent yet");
        waiting.is_sent(text.len());
        assert!(queue.has_room());
    }

    #[test]
    fn answers_that_the_client_does_not_read_end_the_connection() {
        let (queue, _waiting) = queue();
        queue.send("x".repeat(MOST_BYTES));
        assert_eq!(now(queue.broken()), None, "one answer more may wait");
        queue.send("y".to_owned());
        assert_eq!(now(queue.broken()), None);
        queue.send("z".to_owned());
        assert_eq!(now(queue.broken()), Some(()));
    }
}
