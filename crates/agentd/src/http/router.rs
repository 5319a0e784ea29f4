//! The addresses of the server.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Method, Response, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::runtime::Handle;
use wap_core::{CancelFlag, CancelGuard, Limits, Reason, WapError};

use crate::http::bodies::Bodies;
use crate::http::clients::Clients;
use crate::http::guard::{self, Guard};
use crate::http::mcp_gate::{self, McpGate};
use crate::http::metrics::Metrics;
use crate::http::refusal::{json, refusal, refusal_with};
use crate::http::{Sockets, WorkspacePrefix, calls, llm4s, open_api};
use crate::mcp::{HttpMcp, McpConfig, SessionRoom};
use workspace_host::CallPool;
use workspace_host::SharedWorkspace;

/// What the server is made of.
#[derive(Debug)]
pub(crate) struct HttpConfig {
    pub workspace: Arc<SharedWorkspace>,
    pub pool: CallPool,
    pub guard: Guard,
    pub metrics: Arc<Metrics>,
    pub mcp: McpConfig,
    /// Where the service of MCP works.
    pub mcp_runtime: Handle,
    /// The absolute path of the root: this is the native dialect.
    pub root: String,
    /// Raised when the server stops: then commands are ended.
    pub stop: CancelFlag,
    pub sockets: Sockets,
    /// The path by which clients of llm4s know the workspace.
    pub llm4s_prefix: Option<WorkspacePrefix>,
}

/// What every request needs.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) clients: Clients,
    pub(super) bodies: Bodies,
    pub(super) metrics: Arc<Metrics>,
    pub(super) root: String,
    pub(super) stop: CancelFlag,
    pub(super) sockets: Sockets,
    pub(super) llm4s_prefix: Option<WorkspacePrefix>,
    open_api: Vec<u8>,
    /// Ends the sessions of MCP when the server stops.
    _sessions: CancelGuard,
}

/// Returns all addresses with their guard.
pub(crate) fn router(config: HttpConfig) -> Router {
    let HttpConfig { workspace, pool, guard, metrics, mcp, mcp_runtime, root, stop, sockets, llm4s_prefix } =
        config;
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
    let open_api =
        serde_json::to_vec(&open_api::document(guard.needs_token())).expect("the document has string keys");
    let clients = Clients::new(workspace, pool);
    let bodies = Bodies::default();
    let gate = McpGate { bodies: bodies.clone(), runtime: mcp_runtime, sessions: SessionRoom };
    let mcp = Router::new()
        .route_service("/mcp", mcp)
        .route_layer(from_fn_with_state(Arc::new(gate), mcp_gate::pass));
    let server = Server { clients, bodies, metrics, root, stop, sockets, llm4s_prefix, open_api, _sessions };
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
    Router::new()
        .route("/", get(root_text))
        .route("/healthz", get(health))
        .merge(closed)
        .fallback(nothing)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(guard, guard::place))
        .with_state(server)
}

async fn root_text() -> Response<Body> {
    text("text/plain; charset=utf-8", concat!("agentd ", env!("CARGO_PKG_VERSION"), "\n").to_owned())
}

async fn health() -> Response<Body> {
    json(StatusCode::OK, br#"{"status":"ok"}"#.to_vec())
}

async fn open_api_text(State(server): State<Arc<Server>>) -> Response<Body> {
    json(StatusCode::OK, server.open_api.clone())
}

async fn metrics_text(State(server): State<Arc<Server>>) -> Response<Body> {
    text("text/plain; version=0.0.4; charset=utf-8", server.metrics.render(server.clients.index_report()))
}

async fn nothing(uri: Uri) -> Response<Body> {
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
