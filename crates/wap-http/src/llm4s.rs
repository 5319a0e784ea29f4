//! The llm4s dialect: a WebSocket at `/ws`, single commands at `POST /agent`.

mod connection;
mod queue;
mod workspace_prefix;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Extension, Request, State};
use axum::http::{Response, StatusCode};
use tokio::sync::Semaphore;
use wap_core::llm4s::{answer_text, decode_command};
use wap_core::{Limits, Reason, Unobserved, WapError};

use crate::bodies::{self, Received};
use crate::calls;
use crate::meter::Meter;
use crate::refusal::{json, refusal, refusal_with};
use crate::router::Server;

pub use workspace_prefix::{PrefixError, WorkspacePrefix};

/// The bound on open WebSockets. Each has two tasks, and a queue of messages that its client has not read yet.
const MOST_SOCKETS: usize = 512;

/// The open WebSockets.
#[derive(Clone, Debug)]
pub struct Sockets(Arc<Semaphore>);

impl Default for Sockets {
    fn default() -> Sockets {
        Sockets(Arc::new(Semaphore::new(MOST_SOCKETS)))
    }
}

impl Sockets {
    /// Waits until all are closed, for at most `limit`.
    pub(crate) async fn closed(&self, limit: Duration) {
        let all = u32::try_from(MOST_SOCKETS).expect("it is a small constant");
        let _ = tokio::time::timeout(limit, self.0.acquire_many(all)).await;
    }
}

/// `GET /ws`.
pub(crate) async fn socket(
    State(server): State<Arc<Server>>,
    Extension(meter): Extension<Meter>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response<Body> {
    let Ok(upgrade) = upgrade else {
        let error = WapError::new(Reason::InvalidField, "this address takes WebSockets of version 13")
            .with("field", "upgrade");
        return refusal_with(StatusCode::BAD_REQUEST, &error);
    };
    let Ok(slot) = Arc::clone(&server.sockets.0).try_acquire_owned() else {
        return refusal(&WapError::new(Reason::Busy, "too many WebSockets are open; try again later"));
    };
    // Take the slot before the upgrade, while a refusal can still be an HTTP response.
    upgrade
        .max_message_size(connection::MOST_MESSAGE_BYTES)
        .max_frame_size(connection::MOST_MESSAGE_BYTES)
        .on_upgrade(move |socket| async move {
            meter.begin(server.bodies.clone(), connection::MOST_MESSAGE_BYTES);
            connection::serve(&server, socket, &meter).await;
            drop(slot);
        })
}

/// `POST /agent`: one command, one answer. The status is 200 even for a failed command.
pub(crate) async fn agent(State(server): State<Arc<Server>>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let client = match calls::client(&server, &head.headers) {
        Ok(client) => client,
        Err(error) => return refusal(&error),
    };
    let received = match server.bodies.read(&head.headers, body, Limits::MAX_REQUEST_BYTES).await {
        Ok(received) => received,
        Err(error) => return bodies::refused(&error),
    };
    let Received { bytes, share } = received;
    let decode = |bytes: &[u8]| std::str::from_utf8(bytes).ok().and_then(|text| decode_command(text).ok());
    let command = match server.bodies.parse(bytes, decode).await {
        Ok(command) => command,
        Err(error) => return refusal(&error),
    };
    let Some(command) = command else {
        let text = serde_json::json!({
            "$type": "WorkspaceAgentErrorResponse",
            "commandId": "unknown",
            "error": "the body is not a command: send an object with its $type and a commandId",
            "code": "INVALID_REQUEST",
        });
        return json(StatusCode::BAD_REQUEST, text.to_string().into_bytes());
    };
    let id = command.id.clone();
    let prefix = server.llm4s_prefix.clone();
    let request =
        command.request.and_then(|request| match calls::needs_conversation(&request, &head.headers) {
            Some(error) => Err(error),
            None => Ok(request),
        });
    let answer = match request {
        Err(error) => answer_text(&id, &Err(error)),
        Ok(mut request) => {
            let named = id.clone();
            if let Some(prefix) = &prefix {
                prefix.remove_from(&mut request);
            }
            let render = move |mut answer: Result<_, WapError>| {
                if let (Some(prefix), Ok(response)) = (&prefix, &mut answer) {
                    prefix.add_to(response);
                }
                (answer.is_ok(), answer_text(&named, &answer))
            };
            match calls::answered(&server, &client, request, share, Box::new(Unobserved), render).await {
                Some(text) => text,
                None => answer_text(&id, &Err(calls::fault())),
            }
        }
    };
    json(StatusCode::OK, answer.into_bytes())
}
