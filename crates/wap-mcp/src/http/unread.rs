//! The answers to requests whose clients lost the connection, until they resume. The SDK forgets an answer with its request, even
//! if no connection received it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The most requests whose events are kept; beyond that, the oldest is forgotten.
const MOST: usize = 32;

/// The most events of one request to keep: the last ones.
const MOST_EVENTS: usize = 16;

/// The longest wait for the last event of a request that the SDK has answered.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The events of a request, in the form for its client.
pub(super) type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The requests whose events are kept, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread(Arc<Mutex<VecDeque<Kept>>>);

/// One request.
#[derive(Debug)]
struct Kept {
    session: SessionId,
    /// The name of its stream: the part after the slash in the ids of its events.
    stream: String,
    events: Arc<Mutex<VecDeque<ServerSseMessage>>>,
    /// Becomes true with the last event.
    is_over: watch::Receiver<bool>,
}

impl Unread {
    /// Reads the remaining events of a request whose client is gone.
    pub(super) fn keep(&self, session: SessionId, stream: String, mut rest: Events) {
        // Without a runtime, the server has ended.
        let Ok(runtime) = Handle::try_current() else { return };
        let events = Arc::new(Mutex::new(VecDeque::new()));
        let (over, is_over) = watch::channel(false);
        let mut kept = lock(&self.0);
        if kept.len() >= MOST {
            kept.pop_front();
        }
        kept.push_back(Kept { session, stream, events: Arc::clone(&events), is_over });
        drop(kept);
        runtime.spawn(async move {
            while let Some(event) = rest.next().await {
                let mut events = lock(&events);
                // Without an id, the client cannot determine which ones it has.
                if event.event_id.is_none() {
                    continue;
                }
                if events.len() >= MOST_EVENTS {
                    events.pop_front();
                }
                events.push_back(event);
            }
            over.send_replace(true);
        });
    }

    /// Returns the events of a request after one that its client has, once all are there; `None` if none are kept.
    pub(super) async fn after(&self, session: &SessionId, id: &str) -> Option<Events> {
        let (index, stream) = parts(id)?;
        let (events, mut is_over) = {
            let kept = lock(&self.0);
            let one = kept.iter().rev().find(|one| one.session == *session && one.stream == stream)?;
            (Arc::clone(&one.events), one.is_over.clone())
        };
        tokio::time::timeout(LONGEST_WAIT, is_over.wait_for(|is_over| *is_over)).await.ok()?.ok()?;
        let is_later = |event: &&ServerSseMessage| {
            event.event_id.as_deref().and_then(parts).is_some_and(|(other, _)| other > index)
        };
        let events: Vec<_> = lock(&events).iter().filter(is_later).cloned().collect();
        Some(Box::pin(futures_util::stream::iter(events)))
    }

    /// Forgets a request that its client follows again.
    pub(super) fn forget(&self, session: &SessionId, id: &str) {
        if let Some((_, stream)) = parts(id) {
            lock(&self.0).retain(|one| one.session != *session || one.stream != stream);
        }
    }

    /// Forgets the requests of all sessions except these.
    pub(super) fn retain(&self, is_alive: impl Fn(&SessionId) -> bool) {
        lock(&self.0).retain(|one| is_alive(&one.session));
    }
}

/// Returns the number of an event of a request, and the name of its stream; `None` for an event of a session.
pub(super) fn parts(id: &str) -> Option<(usize, &str)> {
    let (index, stream) = id.split_once('/')?;
    Some((index.parse().ok()?, stream))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
