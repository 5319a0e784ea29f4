//! The sessions of MCP over HTTP, up to a limit. Beyond it a new session ends the one that has been idle longest.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};

/// The most sessions at a time.
const MOST_SESSIONS: usize = 256;

tokio::task_local! {
    /// True if the current request was refused a session.
    static IS_FULL: Cell<bool>;
}

/// The SDK's sessions, with a limit on their number.
#[derive(Debug, Default)]
pub struct BoundedSessions {
    inner: LocalSessionManager,
    used: Arc<Mutex<HashMap<SessionId, Used>>>,
}

/// Records whether a session could be made.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionRoom;

/// The use of a session.
#[derive(Debug)]
struct Used {
    last: Instant,
    /// The requests in progress.
    busy: usize,
}

/// The reason for which a session cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// All sessions have requests in progress.
    #[error("all {MOST_SESSIONS} sessions are busy")]
    Full,
    /// An error of the SDK.
    #[error(transparent)]
    Session(#[from] LocalSessionManagerError),
}

impl SessionRoom {
    /// Answers a request. The flag is true if it was refused because all sessions are busy.
    pub async fn note<T>(self, answering: impl Future<Output = T>) -> (T, bool) {
        IS_FULL.scope(Cell::new(false), async { (answering.await, IS_FULL.with(Cell::get)) }).await
    }
}

impl BoundedSessions {
    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Used>> {
        lock(&self.used)
    }

    fn touch(&self, id: &SessionId) {
        if let Some(used) = self.used().get_mut(id) {
            used.last = Instant::now();
        }
    }

    /// Ends the session that has been idle longest if the limit is reached.
    async fn make_room(&self) -> Result<(), SessionsError> {
        // Sessions that ended by themselves are gone from the SDK's map only; abandoned ones are in both.
        let open: Vec<SessionId> = self.inner.sessions.read().await.keys().cloned().collect();
        let oldest = {
            let mut used = self.used();
            used.retain(|id, _| open.contains(id));
            if used.len() < MOST_SESSIONS {
                return Ok(());
            }
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
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        self.touch(id);
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.used().remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let busy = Busy::begin(&self.used, id);
        let stream = self.inner.create_stream(id, message).await?;
        Ok(BusyStream { stream: Box::pin(stream), _busy: busy })
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
        Ok(self.inner.resume(id, last_event_id).await?)
    }

    /// Reports that sessions are not stored anywhere else.
    async fn restore_session(&self, _: SessionId) -> Result<RestoreOutcome<Self::Transport>, SessionsError> {
        Ok(RestoreOutcome::NotSupported)
    }
}

/// A request in progress, counted in its session until it is dropped.
struct Busy {
    used: Arc<Mutex<HashMap<SessionId, Used>>>,
    id: SessionId,
}

impl Busy {
    fn begin(used: &Arc<Mutex<HashMap<SessionId, Used>>>, id: &SessionId) -> Busy {
        if let Some(used) = lock(used).get_mut(id) {
            used.last = Instant::now();
            used.busy += 1;
        }
        Busy { used: Arc::clone(used), id: id.clone() }
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

/// The messages of a request; its session counts as busy until they end.
struct BusyStream<S> {
    stream: Pin<Box<S>>,
    _busy: Busy,
}

impl<S: Stream> Stream for BusyStream<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.stream.as_mut().poll_next(context)
    }
}

fn lock(used: &Mutex<HashMap<SessionId, Used>>) -> MutexGuard<'_, HashMap<SessionId, Used>> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}
