//! The sessions of MCP over HTTP: a bounded number of them. Beyond the bound, the session that was idle longest is ended.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};

use tokio::task::AbortHandle;

use super::request_stream::{RequestStream, WithMessages};
use super::unread::{Events, Unread, parts};
use crate::tasks::for_older_client;

/// The bound on sessions.
const MOST_SESSIONS: usize = 256;

tokio::task_local! {
    /// True if the current request was refused a session.
    static IS_FULL: Cell<bool>;
}

/// The SDK's sessions, with a bound.
#[derive(Debug, Default)]
pub struct BoundedSessions {
    inner: LocalSessionManager,
    used: Arc<Mutex<HashMap<SessionId, Used>>>,
    unread: Unread,
    offers_tasks: bool,
}

/// Observes whether there was room for the session of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionRoom;

/// The use of a session.
#[derive(Debug)]
struct Used {
    last: Instant,
    /// Requests that are being answered.
    busy: usize,
}

/// The failure to use a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// All of them are answering requests.
    #[error("all {MOST_SESSIONS} sessions are busy")]
    Full,
    /// An error of the SDK.
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

impl SessionRoom {
    /// Answers a request; the second value is true if it was refused because there was no room for its session.
    pub async fn note<T>(self, answering: impl Future<Output = T>) -> (T, bool) {
        IS_FULL.scope(Cell::new(false), async { (answering.await, IS_FULL.with(Cell::get)) }).await
    }
}

impl BoundedSessions {
    /// Returns sessions; with `offers_tasks` their clients learn that commands can be tasks.
    #[must_use]
    pub fn offering_tasks(offers_tasks: bool) -> BoundedSessions {
        BoundedSessions { offers_tasks, ..BoundedSessions::default() }
    }

    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Used>> {
        lock(&self.used)
    }

    fn touch(&self, id: &SessionId) {
        if let Some(used) = self.used().get_mut(id) {
            used.last = Instant::now();
        }
    }

    /// Begins to answer a request. A session is busy from then on, and does not count as silent.
    async fn begin(&self, id: &SessionId) -> Busy {
        // Do this before the await, or the session could be ended as idle in the meantime.
        let mut busy = Busy::begin(&self.used, id);
        let handle = self.inner.sessions.read().await.get(id).cloned();
        if let (Some(handle), Some(silence)) = (handle, self.inner.session_config.keep_alive) {
            busy.awake = Some(Awake::keep(handle, silence / 4));
        }
        busy
    }

    /// Returns events; the remaining ones are kept if the client disconnects before the last.
    fn watched(&self, id: &SessionId, events: Events, busy: Option<Busy>) -> BusyStream {
        let unread = Some((self.unread.clone(), id.clone()));
        BusyStream { events: Some(events), last_id: None, unread, _busy: busy }
    }

    /// Makes room for another session.
    async fn make_room(&self) -> Result<(), SessionsError> {
        // Sessions that ended by themselves are removed from the SDK's list without a call to this type.
        let alive: Vec<SessionId> = self.inner.sessions.read().await.keys().cloned().collect();
        self.unread.retain(|id| alive.contains(id));
        // Release the lock before closing the session, which awaits and takes it again.
        let oldest = {
            let mut used = self.used();
            used.retain(|id, _| alive.contains(id));
            if used.len() < MOST_SESSIONS {
                return Ok(());
            }
            // A session with a running request is never ended: its client still waits for the answer.
            let idle = used.iter().filter(|(_, used)| used.busy == 0);
            idle.min_by_key(|(_, used)| used.last).map(|(id, _)| id.clone())
        };
        let Some(oldest) = oldest else {
            let _ = IS_FULL.try_with(|is_full| is_full.set(true));
            return Err(SessionsError::Full);
        };
        self.close_session(&oldest).await
    }
}

impl SessionManager for BoundedSessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        self.make_room().await?;
        let (id, transport) = self.inner.create_session().await?;
        self.used().insert(id.clone(), Used { last: Instant::now(), busy: 0 });
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        let answer = self.inner.initialize_session(id, message).await?;
        Ok(if self.offers_tasks { for_older_client(answer) } else { answer })
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        self.touch(id);
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.used().remove(id);
        self.unread.retain(|other| other != id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let (stream, messages) = RequestStream::new();
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(stream);
        }
        let busy = self.begin(id).await;
        let stream = self.inner.create_stream(id, message).await?;
        let stream = WithMessages::new(for_client(stream, self.offers_tasks), messages);
        Ok(self.watched(id, Box::pin(stream), Some(busy)))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        self.touch(id);
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.touch(id);
        Ok(self.inner.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.touch(id);
        // The stream of a request ends with its answer, unlike that of the session.
        let busy = if last_event_id.contains('/') { Some(self.begin(id).await) } else { None };
        match self.inner.resume(id, next_event_id(&last_event_id)).await {
            Ok(stream) => {
                self.unread.forget(id, &last_event_id);
                Ok(self.watched(id, Box::pin(for_client(stream, self.offers_tasks)), busy))
            }
            // The SDK forgets a request once it is answered.
            Err(error) => match self.unread.after(id, &last_event_id).await {
                Some(events) => {
                    Ok(BusyStream { events: Some(events), last_id: None, unread: None, _busy: busy })
                }
                None => Err(error.into()),
            },
        }
    }

    /// Refuses, because sessions are not stored elsewhere.
    async fn restore_session(&self, _: SessionId) -> Result<RestoreOutcome<Self::Transport>, SessionsError> {
        Ok(RestoreOutcome::NotSupported)
    }
}

/// A running request of a session.
struct Busy {
    used: Arc<Mutex<HashMap<SessionId, Used>>>,
    id: SessionId,
    awake: Option<Awake>,
}

/// Keeps a session from being ended for silence. The SDK measures the time without a message, and a command may print nothing for
/// an hour.
struct Awake(AbortHandle);

impl Awake {
    fn keep(session: LocalSessionHandle, every: Duration) -> Awake {
        let waking = tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                // Close the stream of a nonexistent request, which has no effect except to count as a message.
                if session.close_request_wise_channel(u64::MAX).await.is_err() {
                    return;
                }
            }
        });
        Awake(waking.abort_handle())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Busy {
    fn begin(used: &Arc<Mutex<HashMap<SessionId, Used>>>, id: &SessionId) -> Busy {
        if let Some(used) = lock(used).get_mut(id) {
            used.last = Instant::now();
            used.busy += 1;
        }
        Busy { used: Arc::clone(used), id: id.clone(), awake: None }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(used) = lock(&self.used).get_mut(&self.id) {
            used.last = Instant::now();
            used.busy = used.busy.saturating_sub(1);
        }
    }
}

/// The messages about a request, until the last one; or those of a session, which do not make it busy.
struct BusyStream {
    /// `None` after the last one.
    events: Option<Events>,
    /// The id of the last event.
    last_id: Option<String>,
    /// The store for remaining events if the client disconnects, and the session; `None` if they are already kept.
    unread: Option<(Unread, SessionId)>,
    _busy: Option<Busy>,
}

impl Stream for BusyStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let event = ready!(events.as_mut().poll_next(context));
        match &event {
            None => self.events = None,
            Some(event) if event.event_id.is_some() => self.last_id.clone_from(&event.event_id),
            Some(_) => {}
        }
        Poll::Ready(event)
    }
}

impl Drop for BusyStream {
    fn drop(&mut self) {
        let stream = self.last_id.as_deref().and_then(parts).map(|(_, stream)| stream.to_owned());
        if let (Some(rest), Some(stream), Some((unread, session))) =
            (self.events.take(), stream, self.unread.take())
        {
            unread.keep(session, stream, rest);
        }
    }
}

/// Returns events in the form for the client.
fn for_client(
    stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    offers_tasks: bool,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    stream.map(move |mut event: ServerSseMessage| {
        if offers_tasks && let Some(message) = event.message.take() {
            event.message = Some(Arc::new(for_older_client(Arc::unwrap_or_clone(message))));
        }
        event
    })
}

/// Returns the id of the event after one that a client has. The SDK begins with the event whose id it is given.
fn next_event_id(id: &str) -> String {
    let (index, stream) = id.split_at(id.find('/').unwrap_or(id.len()));
    match index.parse::<usize>() {
        // In the stream of a session, 0 is also the id of an empty event before the first one.
        Ok(0) if stream.is_empty() => id.to_owned(),
        Ok(index) => format!("{}{stream}", index.saturating_add(1)),
        Err(_) => id.to_owned(),
    }
}

fn lock(used: &Mutex<HashMap<SessionId, Used>>) -> MutexGuard<'_, HashMap<SessionId, Used>> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
