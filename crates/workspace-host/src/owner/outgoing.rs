//! The messages for one client of the owner: they queue here, and a separate thread sends them.
//!
//! The thread that carried out a call only queues the answer. A client that does not read, for instance because it was
//! suspended, does not delay others; after a time limit it is disconnected.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::owner::Begun;

/// The maximum number of bytes that may wait for one client; a single message may be longer.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// The number of waiting bytes from which a client counts as lagging: output to watch is then dropped.
const LAGGING_BYTES: usize = 64 << 10;

/// The messages for one client. Dropping it sends what waits, and no more.
#[derive(Debug)]
pub(super) struct Outgoing {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// Messages, each with the call that it answers, which ends when its answer is written.
    waiting: VecDeque<(Vec<u8>, Option<Begun>)>,
    bytes: usize,
    /// True once no more messages are accepted.
    is_closed: bool,
}

impl Outgoing {
    /// Sends to a stream from now on. The stream's write timeout limits the time that a client may take for a message.
    pub(super) fn start(stream: UnixStream) -> io::Result<Outgoing> {
        let shared = Arc::new(Shared { queue: Mutex::default(), changed: Condvar::new() });
        let sending = Arc::clone(&shared);
        thread::Builder::new().name("answers".to_owned()).spawn(move || sending.send_all(&stream))?;
        Ok(Outgoing { shared })
    }

    /// Sends a message when its turn comes.
    pub(super) fn send(&self, message: Vec<u8>, answered: Option<Begun>) {
        let mut queue = self.shared.lock();
        if queue.is_closed {
            return;
        }
        // A message longer than the limit passes when it is alone: otherwise its call could never be answered.
        if !queue.waiting.is_empty() && queue.bytes + message.len() > MOST_WAITING_BYTES {
            queue.close();
        } else {
            queue.push(message, answered);
        }
        drop(queue);
        self.shared.changed.notify_one();
    }

    /// Sends a message that is only useful now, unless the client is lagging.
    pub(super) fn send_unless_lagging(&self, message: Vec<u8>) {
        self.try_send(message);
    }

    /// Sends such a message, and returns true if the client was not lagging.
    pub(super) fn try_send(&self, message: Vec<u8>) -> bool {
        let mut queue = self.shared.lock();
        let is_sent = !queue.is_closed && queue.bytes < LAGGING_BYTES;
        if is_sent {
            queue.push(message, None);
            drop(queue);
            self.shared.changed.notify_one();
        }
        is_sent
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_one();
    }
}

impl Queue {
    fn push(&mut self, mut message: Vec<u8>, answered: Option<Begun>) {
        message.push(b'\n');
        self.bytes += message.len();
        self.waiting.push_back((message, answered));
    }

    /// Gives up the client: half a message may have been written, so it could parse nothing that follows.
    fn close(&mut self) {
        self.is_closed = true;
        self.bytes = 0;
        self.waiting.clear();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_all(&self, mut stream: &UnixStream) {
        let mut queue = self.lock();
        loop {
            if let Some((message, answered)) = queue.waiting.pop_front() {
                queue.bytes -= message.len();
                // Writing may block for as long as the client likes: never under the lock.
                drop(queue);
                let sent = stream.write_all(&message);
                drop(answered);
                queue = self.lock();
                if sent.is_err() {
                    queue.close();
                }
                continue;
            }
            if queue.is_closed {
                break;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        drop(queue);
        let _ = stream.shutdown(Shutdown::Both);
    }
}
