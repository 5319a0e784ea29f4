//! The addresses of the server.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Method, Response, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::runtime::Handle;
use wap_core::{CancelFlag, CancelGuard, Limits, Reason, WapError, Workspace};

use crate::bodies::Bodies;
use crate::clients::Clients;
use crate::guard::{self, Guard};
use crate::mcp_gate::{self, McpGate};
use crate::metrics::Metrics;
use crate::refusal::{json, refusal, refusal_with};
use crate::{IndexFigures, Sockets, WorkspacePrefix, calls, llm4s, open_api};
use wap_calls::CallPool;
use wap_mcp::{HttpMcp, McpConfig, ServerName, SessionRoom};

/// Returns the figures of a workspace's list of files; `None` if it has none.
pub type ReportIndex = Arc<dyn Fn() -> Option<IndexFigures> + Send + Sync>;

/// The parts of a server.
pub struct HttpConfig {
    /// The workspace that it serves.
    pub workspace: Arc<dyn Workspace>,
    /// The threads that carry out calls.
    pub pool: CallPool,
    /// The check of host, origin and token.
    pub guard: Guard,
    /// The figures of `/metrics`.
    pub metrics: Arc<Metrics>,
    /// The figures of the list of files for `/metrics`.
    pub index: ReportIndex,
    /// The settings of the MCP service at `/mcp`; its name is that of the server.
    pub mcp: McpConfig,
    /// The runtime of the MCP service, so that its parsing does not delay other connections.
    pub mcp_runtime: Handle,
    /// The absolute path of the workspace's root, which the native dialect names.
    pub root: String,
    /// Raised when the server stops: running commands are then cancelled.
    pub stop: CancelFlag,
    /// The open WebSockets.
    pub sockets: Sockets,
    /// The path under which clients of llm4s address the workspace; `None` for relative paths only.
    pub llm4s_prefix: Option<WorkspacePrefix>,
}

/// The state that all requests share.
pub(crate) struct Server {
    pub(crate) clients: Clients,
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) root: String,
    pub(crate) stop: CancelFlag,
    pub(crate) sockets: Sockets,
    pub(crate) llm4s_prefix: Option<WorkspacePrefix>,
    name: ServerName,
    index: ReportIndex,
    open_api: Vec<u8>,
    /// Ends the sessions of MCP when the server stops.
    _sessions: CancelGuard,
}

/// Returns the service for all addresses, protected by the guard.
///
/// # Panics
///
/// Never: the OpenAPI document can be written as JSON.
pub fn router(config: HttpConfig) -> Router {
    let HttpConfig { workspace, pool, guard, metrics, index, mcp, .. } = config;
    let HttpConfig { mcp_runtime, root, stop, sockets, llm4s_prefix, .. } = config;
    let name = mcp.name;
    let guard = Arc::new(guard);
    let mcp = HttpMcp {
        config: Arc::new(mcp),
        workspace: Arc::clone(&workspace),
        pool: pool.clone(),
        hosts: guard.host_names(),
        most_body_bytes: usize::try_from(Limits::MAX_REQUEST_BYTES).unwrap_or(usize::MAX),
    };
    let (mcp, end_sessions) = mcp.into_service();
    let _sessions = stop.on_cancel(end_sessions);
    // Render it once: the document does not change while the server runs.
    let open_api =
        serde_json::to_vec(&open_api::document(guard.needs_token())).expect("the document has string keys");
    let clients = Clients::new(workspace, pool);
    let bodies = Bodies::default();
    let gate = McpGate { bodies: bodies.clone(), runtime: mcp_runtime, sessions: SessionRoom };
    let mcp = Router::new()
        .route_service("/mcp", mcp)
        .route_layer(from_fn_with_state(Arc::new(gate), mcp_gate::pass));
    let server = Server {
        clients,
        bodies,
        metrics,
        root,
        stop,
        sockets,
        llm4s_prefix,
        name,
        index,
        open_api,
        _sessions,
    };
    let server = Arc::new(server);
    let closed = Router::new()
        .route("/v1/tools/{tool}", post(calls::tool))
        .route("/v1/info", get(calls::info))
        .route("/v1/openapi.json", get(open_api_text))
        .route("/metrics", get(metrics_text))
        .route("/ws", get(llm4s::socket))
        .route("/agent", post(llm4s::agent))
        .merge(mcp)
        .route_layer(from_fn_with_state(Arc::clone(&guard), guard::token));
    // The layer for the source comes last and so runs first: even public addresses do not answer foreign pages.
    Router::new()
        .route("/", get(root_text))
        .route("/healthz", get(health))
        .merge(closed)
        .fallback(nothing)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(guard, guard::source))
        .with_state(server)
}

async fn root_text(State(server): State<Arc<Server>>) -> Response<Body> {
    let ServerName { name, version, .. } = server.name;
    text("text/plain; charset=utf-8", format!("{name} {version}\n"))
}

async fn health() -> Response<Body> {
    json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec())
}

async fn open_api_text(State(server): State<Arc<Server>>) -> Response<Body> {
    json(StatusCode::OK, server.open_api.clone())
}

async fn metrics_text(State(server): State<Arc<Server>>) -> Response<Body> {
    text("text/plain; version=0.0.4; charset=utf-8", server.metrics.render((server.index)()))
}

async fn nothing(uri: Uri) -> Response<Body> {
    // A path may be as long as the head of a request.
    let path: String = uri.path().chars().take(200).collect();
    refusal(&WapError::new(
        Reason::PathNotFound,
        format!("there is nothing at '{path}'; /v1/openapi.json says what there is"),
    ))
}

async fn wrong_method(method: Method) -> Response<Body> {
    let error = WapError::new(Reason::InvalidField, format!("this address does not take {method}"))
        .with("field", "method");
    refusal_with(StatusCode::METHOD_NOT_ALLOWED, &error)
}

fn text(kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
