//! Calls of tools: the body of a request in, the response of the tool out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use serde_json::Value;
use tokio::sync::oneshot;
use wap_core::{
    CancelFlag, CommandObserver, Limits, Reason, Request as ToolRequest, Response as ToolResponse, Tool,
    ToolEffect, UnknownArguments, Unobserved, WapError,
};

use crate::bodies::{self, Received, Share};
use crate::clients;
use crate::refusal::{json, refusal, refusal_with};
use crate::router::Server;
use wap_calls::Client;

/// Cancels the call of a disconnected client: the server then drops the request's future.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// `POST /v1/tools/{tool}`.
pub(crate) async fn tool(
    State(server): State<Arc<Server>>,
    Path(name): Path<String>,
    request: Request,
) -> Response<Body> {
    let tool: Tool = match name.parse() {
        Ok(tool) => tool,
        Err(error) => return refusal(&error),
    };
    let (head, body) = request.into_parts();
    let client = match client(&server, &head.headers) {
        Ok(client) => client,
        Err(error) => return refusal(&error),
    };
    if !is_json(&head.headers) {
        let error =
            WapError::new(Reason::InvalidField, "the body has to be application/json").with("field", ".");
        return refusal_with(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
    }
    // Check the tool, the client and the type first: the body of a refused request is not read.
    let received = match server.bodies.read(&head.headers, body, Limits::MAX_REQUEST_BYTES).await {
        Ok(received) => received,
        Err(error) => return bodies::refused(&error),
    };
    let Received { bytes, share } = received;
    let parsed = server.bodies.parse(bytes, move |bytes| {
        let arguments = arguments(bytes)?;
        let unknown = UnknownArguments::of(tool, &arguments);
        match ToolRequest::parse(tool.name(), arguments) {
            Ok(request) => Ok((request, unknown)),
            Err(error) => Err(unknown.annotate_error(error)),
        }
    });
    match parsed.await.flatten() {
        Ok((request, unknown)) => match needs_conversation(&request, &head.headers) {
            Some(error) => refusal(&error),
            None => carry_out(&server, &client, request, unknown, share).await,
        },
        Err(error) => refusal(&error),
    }
}

/// Returns the refusal of a background process without a conversation: it would end with its request, after an answer that
/// reports it as running.
pub(crate) fn needs_conversation(request: &ToolRequest, headers: &HeaderMap) -> Option<WapError> {
    if !request.is_background() || headers.contains_key(clients::HEADER) {
        return None;
    }
    let text = format!(
        "a background process ends with its conversation: name that in the header {} of its calls",
        clients::HEADER
    );
    Some(WapError::new(Reason::InvalidField, text).with("field", "background"))
}

/// `GET /v1/info`.
pub(crate) async fn info(State(server): State<Arc<Server>>) -> Response<Body> {
    let client = server.clients.unnamed("http");
    let unknown = UnknownArguments::default();
    carry_out(&server, &client, ToolRequest::GetWorkspaceInfo, unknown, Share::default()).await
}

async fn carry_out(
    server: &Server,
    client: &Arc<Client>,
    request: ToolRequest,
    unknown: UnknownArguments,
    share: Share,
) -> Response<Body> {
    let root = server.root.clone();
    let render = move |answer: Result<ToolResponse, WapError>| {
        let rendered = unknown.annotate(answer).map(|response| {
            serde_json::to_vec(&response.with_absolute_metadata(&root)).expect("answers have string keys")
        });
        (rendered.is_ok(), rendered)
    };
    match answered(server, client, request, share, Box::new(Unobserved), render).await {
        Some(Ok(body)) => json(StatusCode::OK, body),
        Some(Err(error)) => refusal(&error),
        None => refusal(&fault()),
    }
}

/// Returns the error for a client if there is no answer.
pub(crate) fn fault() -> WapError {
    WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call")
}

/// Carries out a call, which is cancelled if its client disconnects. `render` returns true for a success, and runs on the thread
/// of the call, not on the connections' thread. The `share` of the request's body is returned when the call has ended, even if
/// its client disconnects earlier.
pub(crate) async fn answered<T: Send + 'static>(
    server: &Server,
    client: &Arc<Client>,
    request: ToolRequest,
    share: Share,
    observer: Box<dyn CommandObserver>,
    render: impl FnOnce(Result<ToolResponse, WapError>) -> (bool, T) + Send + 'static,
) -> Option<T> {
    let cancel = CancelFlag::new();
    let _gone = CancelOnDrop(cancel.clone());
    let stopped = cancel.clone();
    // A stopping server cancels commands, which may run for an hour, and lets other calls finish.
    let is_command = request.tool().effect() == ToolEffect::Runs;
    let _stop = is_command.then(|| server.stop.on_cancel(Box::new(move || stopped.cancel())));
    let (sender, answered) = oneshot::channel();
    let mut running = server.metrics.begin(request.tool());
    client.begin(request, cancel, observer, move |answer| {
        // The request is already dropped; the answer is bounded by the limits of the tools.
        drop(share);
        let _ = sender.send(render(answer));
    });
    let (has_succeeded, rendered) = answered.await.ok()?;
    if has_succeeded {
        running.succeeded();
    }
    Some(rendered)
}

pub(crate) fn client(server: &Server, headers: &HeaderMap) -> Result<Arc<Client>, WapError> {
    let Some(name) = headers.get(clients::HEADER) else { return Ok(server.clients.unnamed("http")) };
    name.to_str().ok().and_then(|name| server.clients.named(name)).ok_or_else(|| {
        let text = "the name of a conversation is 1 to 128 visible characters of ASCII";
        WapError::new(Reason::InvalidField, text).with("field", clients::HEADER)
    })
}

/// Checks whether a request has a JSON body, or none. A page of another origin cannot send this type unless the server permits
/// it, so forms of such pages are refused.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        return headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0")
            && !headers.contains_key(header::TRANSFER_ENCODING);
    };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn arguments(body: &[u8]) -> Result<Value, WapError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    wap_core::check_json_size(body)?;
    serde_json::from_slice(body).map_err(|error| {
        WapError::new(Reason::InvalidField, format!("the body is not JSON: {error}")).with("field", ".")
    })
}
